/** Means and their intervals. */
import { intervalOf } from '../../src/shared/statistics.js';

export const meanOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the mean and half of its 95 % interval by Student's t; NaN for one value. */
export function interval(values: ArrayLike<number>): { mean: number; halfWidth: number } {
  const { mean, high } = intervalOf(Float64Array.from(values));
  return { mean, halfWidth: high === null ? Number.NaN : high - mean };
}
