/** The seeds of the episodes on which a search scores action sequences. */

/** Seeds for training and examples. Scores on these seeds are biased, so results are measured on other seeds. */
export const TRAINING_SEEDS: { readonly first: number; readonly last: number } = Object.freeze({
  first: 100,
  last: 9999,
});

/** Returns `count` seeds at even distances in a range (default: `TRAINING_SEEDS`), u32 [count]. */
export function spreadSeeds(count: number, { first, last } = TRAINING_SEEDS): Uint32Array {
  const size = last - first + 1;
  return Uint32Array.from({ length: count }, (_, k) => first + Math.floor((k * size) / count));
}
