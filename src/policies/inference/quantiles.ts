/** Order statistics of draws that stand for a posterior. All take them sorted, ascending, at least one. */

/** Between which an estimate lies: eight times in ten. */
export const [LOW, HIGH] = [0.1, 0.9];

/** The draw below which that share of them is. */
export const quantile = (sorted: Float32Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** How far 10 % is from 90 %. */
export const spread = (sorted: Float32Array): number => quantile(sorted, HIGH) - quantile(sorted, LOW);

/** As a float32. */
export function median(sorted: Float32Array): number {
  const half = sorted.length / 2;
  return Math.fround(0.5 * (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]));
}

/** The mean distance of the draws to a value. */
export function meanError(sorted: Float32Array, value: number): number {
  let sum = 0;
  for (let k = 0; k < sorted.length; k++) sum += Math.abs(sorted[k] - value);
  return sum / sorted.length;
}

/** Share of the draws that are below a value. */
export function rankOf(value: number, sorted: Float32Array): number {
  let below = 0;
  while (below < sorted.length && sorted[below] < value) below++;
  return below / sorted.length;
}
