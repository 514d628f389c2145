/** Chooses the seeds of a training's episodes. */
import { permutation } from '../datasets/state-sampler.js';
import type { TrainRequest } from './train-options.js';

/**
 * Returns `count` seeds of the training's range in a shuffled order, from index `first` of this order on. No seed is repeated
 * before all were used. @param key u32: with the training's seed, it chooses the order. All rounds of a training share a key.
 */
export function seedsOf(
  { seed, seeds }: Pick<TrainRequest, 'seed' | 'seeds'>,
  { first, count, key }: { first: number; count: number; key: number },
): Uint32Array {
  const size = seeds.last - seeds.first + 1;
  return Uint32Array.from({ length: count }, (_, k) => {
    const at = first + k;
    // Each pass over the range has another order.
    const order = permutation(size, [seed, (key + Math.floor(at / size)) >>> 0]);
    return seeds.first + order(at % size);
  });
}
