/** The training seeds, and seeds spread over a range. */

/** Seeds for training and examples. Seeds below and above these are for evaluation. */
export const TRAINING_SEEDS: { readonly first: number; readonly last: number } = Object.freeze({
  first: 100,
  last: 9999,
});

/** Returns `count` seeds, spread evenly over a range (default: `TRAINING_SEEDS`), u32 [count]. */
export function spreadSeeds(count: number, { first, last } = TRAINING_SEEDS): Uint32Array {
  const size = last - first + 1;
  return Uint32Array.from({ length: count }, (_, k) => first + Math.floor((k * size) / count));
}
