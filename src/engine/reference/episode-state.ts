/** The state of an episode: in which it begins, at step 0 or later, and its 64-bit hash. */

import { NUM_BELIEFS, NUM_METERS, PROFILE_SIZE } from '../../world/fields.js';
import type { EnvStarts } from '../validate/starts.js';
import { type Draw, threefry } from './threefry.js';

/** The state in which an episode begins. All floats are float32 values. */
export interface EpisodeStart {
  /** Steps taken, 0 to 27. */
  readonly steps: number;
  /** f32 [5] in [0, 1]. */
  readonly meters: ArrayLike<number>;
  /** Sum of the rewards of the first half, without noise. */
  readonly early: number;
  /** Sum of the rewards of the second half, without noise. */
  readonly late: number;
  /** Sum of the rewards, with noise. */
  readonly return: number;
  /** How often a meter was below the crash threshold. */
  readonly crashes: number;
  /** Sum, over the steps, of the meters after the step, weighted by the profile's weights. */
  readonly well: number;
  /** Sum of the terms of `belief_skill`. */
  readonly skill: number;
  /** The last belief given, f32 [3] in [0, 1]; null for none. */
  readonly belief: ArrayLike<number> | null;
}

/** Returns a start whose sums are 0 and that has no belief, by default at step 0. */
export const startFrom = (meters: ArrayLike<number>, steps = 0): EpisodeStart => ({
  steps,
  meters,
  early: 0,
  late: 0,
  return: 0,
  crashes: 0,
  well: 0,
  skill: 0,
  belief: null,
});

/** Returns the start of environment i. */
export function startAt(start: EnvStarts, i: number): EpisodeStart {
  const { steps, meters, early, late, returns, crashes, well, skill, beliefs, given } = start;
  return {
    steps: steps[i],
    meters: meters.subarray(i * NUM_METERS, (i + 1) * NUM_METERS),
    early: early?.[i] ?? 0,
    late: late?.[i] ?? 0,
    return: returns?.[i] ?? 0,
    crashes: crashes?.[i] ?? 0,
    well: well?.[i] ?? 0,
    skill: skill?.[i] ?? 0,
    belief: given?.[i] ? beliefs!.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS) : null,
  };
}

/** "RHYTHMVS" in ASCII. */
const INITIAL_KEY = [0x52485954, 0x484d5653] as const;

/** The number of hashed words: seed, step, meters, profile, and a zero. */
const WORDS = 2 + NUM_METERS + PROFILE_SIZE + 1;

/**
 * Returns the hash of seed, step and the bits of meters and profile, followed by a zero word. Each pair of words is
 * hashed with the previous result as the key.
 */
export function stateHash(seed: number, step: number, meters: Float32Array, profile: Float32Array): bigint {
  const words = new Uint32Array(WORDS);
  const floats = new Float32Array(words.buffer);
  words.set([seed, step]);
  floats.set(meters, 2);
  floats.set(profile, 2 + NUM_METERS);
  const key: Draw = { x0: INITIAL_KEY[0], x1: INITIAL_KEY[1] };
  for (let pair = 0; pair < WORDS; pair += 2) {
    threefry(key.x0, key.x1, words[pair], words[pair + 1], key);
  }
  return (BigInt(key.x1) << 32n) | BigInt(key.x0);
}
