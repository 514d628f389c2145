/** A permutation of the integers below any size, computed entry by entry in constant memory. */
import { type Draw, threefry } from '../../engine/reference/threefry.js';

const ROUNDS = 4;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * A function that takes each integer in [0, size) to another, all of them different: a Feistel network, walked on
 * while it leads outside.
 * @param size 1 to 2^52. @param key two u32: another key, another order.
 */
export function permutation(size: number, key: readonly [number, number]): (index: number) => number {
  let bits = 1;
  while (4 ** bits < size) bits++;
  const half = 2 ** bits;
  const once = (index: number): number => {
    let left = Math.floor(index / half);
    let right = index % half;
    for (let round = 0; round < ROUNDS; round++) {
      const mixed = threefry(key[0], key[1], right, round, draw).x0 & (half - 1);
      [left, right] = [right, left ^ mixed];
    }
    return left * half + right;
  };
  return (index) => {
    let to = once(index);
    while (to >= size) to = once(to);
    return to;
  };
}
