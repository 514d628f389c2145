/** Statistics of posterior samples. All functions need at least one sample. Samples named `sorted` are in ascending order. */

/** The quantiles of the 80 % interval of an estimate. */
export const [LOW, HIGH] = [0.1, 0.9];

/** Returns the quantile at `share` in [0, 1]. */
export const quantile = (sorted: Float32Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Returns the distance between the 10 % and the 90 % quantile. */
export const spread = (sorted: Float32Array): number => quantile(sorted, HIGH) - quantile(sorted, LOW);

/** Returns the median, rounded to float32. */
export function median(sorted: Float32Array): number {
  const half = sorted.length / 2;
  return Math.fround(0.5 * (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]));
}

/** Returns the mean of the samples. */
export function mean(samples: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += samples[k];
  return sum / samples.length;
}

/** Returns the mean squared distance of the samples to their mean. */
export function variance(samples: Float32Array): number {
  const middle = mean(samples);
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += (samples[k] - middle) ** 2;
  return sum / samples.length;
}

/** Returns the mean distance of the samples to a value. */
export function meanError(samples: Float32Array, value: number): number {
  let sum = 0;
  for (let k = 0; k < samples.length; k++) sum += Math.abs(samples[k] - value);
  return sum / samples.length;
}

/** Returns the share of the samples below a value. */
export function shareBelow(value: number, sorted: Float32Array): number {
  let below = 0;
  while (below < sorted.length && sorted[below] < value) below++;
  return below / sorted.length;
}
