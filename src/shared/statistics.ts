/** Sums and confidence intervals of scores: accurate, and the same however the scores are split between calls. */
import { CONFIDENCE, tQuantile } from './t-quantile.js';

/** A float64 sum that adds up its rounding errors separately (Knuth's TwoSum). Ten million terms lose no digits. */
export class CompensatedSum {
  #sum = 0;
  #error = 0;

  get value(): number {
    return this.#sum + this.#error;
  }

  /** Adds `values[offset]`, `values[offset + stride]`, and so on to the end. */
  addColumn(values: Float32Array | Float64Array, offset: number, stride: number): void {
    let sum = this.#sum;
    let error = this.#error;
    for (let i = offset; i < values.length; i += stride) {
      const value = values[i];
      const next = sum + value;
      const added = next - sum;
      error += sum - (next - added) + (value - added);
      sum = next;
    }
    this.#sum = sum;
    this.#error = error;
  }
}

/** A mean with its confidence interval. The confidence is 95 %, unless a call passes another. */
export interface Interval {
  /** The mean. */
  readonly mean: number;
  /** Lower bound of the interval; null for a single value, which has none. */
  readonly low: number | null;
  /** Upper bound of the interval; null for a single value. */
  readonly high: number | null;
}

/** Count, mean and spread of a stream of numbers. */
export class Moments {
  #count = 0;
  #first = 0;
  readonly #sum = new CompensatedSum();
  readonly #squares = new CompensatedSum();

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.addAll(Float64Array.of(value));
  }

  addAll(values: Float32Array | Float64Array): void {
    if (values.length === 0) return;
    if (this.#count === 0) this.#first = values[0];
    // Sums differences from the first value, so that squares do not cancel and equal values have a variance of exactly 0.
    const shifted = new Float64Array(values.length);
    const squares = new Float64Array(values.length);
    for (let i = 0; i < values.length; i++) {
      shifted[i] = values[i] - this.#first;
      squares[i] = shifted[i] * shifted[i];
    }
    this.#sum.addColumn(shifted, 0, 1);
    this.#squares.addColumn(squares, 0, 1);
    this.#count += values.length;
  }

  /** Returns the mean and its interval by Student's t distribution. */
  interval(confidence = CONFIDENCE): Interval {
    const n = this.#count;
    const shift = this.#sum.value / n;
    const mean = this.#first + shift;
    if (n < 2) return { mean, low: null, high: null };
    const variance = Math.max(0, (this.#squares.value - n * shift * shift) / (n - 1));
    const half = tQuantile(n - 1, confidence) * Math.sqrt(variance / n);
    return { mean, low: mean - half, high: mean + half };
  }
}

/** Returns the mean of values and its interval, 95 % by default. */
export function intervalOf(values: Float32Array | Float64Array, confidence = CONFIDENCE): Interval {
  const moments = new Moments();
  moments.addAll(values);
  return moments.interval(confidence);
}
