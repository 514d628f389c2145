/** Means, and how sure they are. */
import quantile from '@stdlib/stats-base-dists-t-quantile';

export const meanOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of at least two values, with half of its 95 % interval by Student's t. */
export function interval(values: ArrayLike<number>): { mean: number; halfWidth: number } {
  const mean = meanOf(values);
  const variance = meanOf(Array.from(values, (value) => (value - mean) ** 2)) / (values.length - 1);
  return { mean, halfWidth: quantile(0.975, values.length - 1) * Math.sqrt(variance) };
}
