/** Computes percentiles of the meters over many episodes, by step. */
import { checkLength } from '../shared/values.js';
import { NUM_METERS, NUM_STEPS } from '../world/fields.js';

/** The percentiles of bands, ascending: the median and two bands around it. */
export const PERCENTILES = [10, 25, 50, 75, 90] as const;

/** Percentiles of the meters, by step. */
export interface Bands {
  /** The number of episodes. */
  readonly episodes: number;
  /** f64 [5, 28, 5], row-major: percentile (of PERCENTILES), step, meter. In [0, 1]. */
  readonly values: Float64Array;
}

/**
 * Returns the percentiles of each meter after each step, interpolated between episodes.
 * @param meters f32 [n, 28, 5], row-major, such as a run's `trajectory.meters`; n is at least 1.
 * @throws InputError `wrong_length`.
 */
export function bandsOf(meters: Float32Array): Bands {
  const width = NUM_STEPS * NUM_METERS;
  const episodes = Math.max(1, Math.floor(meters.length / width));
  checkLength('meters', meters.length, episodes * width, `${episodes} x ${NUM_STEPS} x ${NUM_METERS}`);
  const values = new Float64Array(PERCENTILES.length * width);
  const column = new Float32Array(episodes);
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < episodes; i++) column[i] = meters[i * width + k];
    column.sort();
    PERCENTILES.forEach((percentile, p) => {
      values[p * width + k] = quantile(column, percentile / 100);
    });
  }
  return { episodes, values };
}

/** Returns a quantile, interpolated linearly. @param sorted ascending. */
function quantile(sorted: Float32Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}
