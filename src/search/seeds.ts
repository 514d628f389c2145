/** Which weeks a tape is found in. */

/** What is left for training and examples, beside the seeds that results are reported on. */
export const TRAINING_SEEDS: { readonly first: number; readonly last: number } = Object.freeze({
  first: 100,
  last: 9999,
});

/** `count` seeds that stand evenly in a range, both its ends included, as u32 [count]. */
export function spreadSeeds(count: number, { first, last } = TRAINING_SEEDS): Uint32Array {
  const size = last - first + 1;
  return Uint32Array.from({ length: count }, (_, k) => first + Math.floor((k * size) / count));
}
