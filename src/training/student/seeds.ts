/** The seeds of a training's episodes. */
import { permutation } from '../datasets/permutation.js';
import type { TrainRequest } from './train-options.js';

/** Returns seeds of the range, the next ones of an order that the training's seed chooses. @param key u32: the order's key. */
export function seedsOf(
  { seed, seeds }: Pick<TrainRequest, 'seed' | 'seeds'>,
  { first, count, key }: { first: number; count: number; key: number },
): Uint32Array {
  const size = seeds.last - seeds.first + 1;
  return Uint32Array.from({ length: count }, (_, k) => {
    const at = first + k;
    // Each pass over the range has an order of its own.
    const order = permutation(size, [seed, (key + Math.floor(at / size)) >>> 0]);
    return seeds.first + order(at % size);
  });
}
