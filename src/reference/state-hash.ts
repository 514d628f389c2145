/** The 64-bit hash by which two states are the same anchor: person, time and meters, not luck, sums or beliefs. */
import { type Draw, threefry } from './threefry.js';

const INITIAL_KEY = [0x52485954, 0x484d5653] as const;

/** @param words u32 [24]: seed, step, five meters, 16 profile floats (as bits), 0. */
export function stateHash(words: Uint32Array): bigint {
  const key: Draw = { x0: INITIAL_KEY[0], x1: INITIAL_KEY[1] };
  for (let pair = 0; pair < words.length; pair += 2) {
    threefry(key.x0, key.x1, words[pair], words[pair + 1], key);
  }
  return (BigInt(key.x1) << 32n) | BigInt(key.x0);
}
