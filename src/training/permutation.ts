/** Permutations of integers, without a list of them. */
import { type Draw, threefry } from '../engine/reference/threefry.js';

/** The number of rounds of the Feistel network. Chosen by hand: more take longer, and fewer mix less. */
const ROUNDS = 4;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * Returns a permutation of the integers in [0, size): a Feistel network, applied again while its output is not below
 * `size`.
 * @param size 1 to 2^52. @param key two u32. They choose the permutation.
 */
export function permutation(size: number, key: readonly [number, number]): (index: number) => number {
  // The number of bits in each half of an index: the fewest that can represent all indices.
  let bits = 1;
  while (4 ** bits < size) bits++;
  const half = 2 ** bits;
  const feistel = (index: number): number => {
    let left = Math.floor(index / half);
    let right = index % half;
    for (let round = 0; round < ROUNDS; round++) {
      const mixed = threefry(key[0], key[1], right, round, draw).x0 & (half - 1);
      [left, right] = [right, left ^ mixed];
    }
    return left * half + right;
  };
  return (index) => {
    let image = feistel(index);
    while (image >= size) image = feistel(image);
    return image;
  };
}
