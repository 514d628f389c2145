/** The state in which an episode begins, at step 0 or later. */

import { NUM_BELIEFS, NUM_METERS } from '../../world/fields.js';
import type { EnvStarts } from '../validate/starts.js';

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
