/** The 64-bit hash of a state's seed, time, meters and profile (docs/world.md, The hash of a state). */
import { NUM_METERS, PROFILE_SIZE } from '../../world/fields.js';
import { type Draw, threefry } from './threefry.js';

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
