/** Sums and intervals of streams of scores: accurate, in constant memory, and the same however a stream is cut. */
import quantile from '@stdlib/stats-base-dists-t-quantile';

/** A float64 sum that carries its rounding error along (Knuth's TwoSum), so ten million terms cost no digits. */
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
      const kept = next - sum;
      error += sum - (next - kept) + (value - kept);
      sum = next;
    }
    this.#sum = sum;
    this.#error = error;
  }
}

export interface Interval {
  readonly mean: number;
  /** Bounds of the mean's 95 % interval; null for a single value, which has none. */
  readonly low: number | null;
  readonly high: number | null;
}

/** Mean and spread of one stream. */
export class Moments {
  #count = 0;
  #first = 0;
  readonly #sum = new CompensatedSum();
  readonly #squares = new CompensatedSum();

  get count(): number {
    return this.#count;
  }

  addAll(values: Float32Array | Float64Array): void {
    if (values.length === 0) return;
    if (this.#count === 0) this.#first = values[0];
    // Around the first value: squares of a shifted stream do not cancel, and equal values have a spread of exactly 0.
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

  /** The mean with its 95 % interval by Student's t. */
  interval(): Interval {
    const n = this.#count;
    const shift = this.#sum.value / n;
    const mean = this.#first + shift;
    if (n < 2) return { mean, low: null, high: null };
    const variance = Math.max(0, (this.#squares.value - n * shift * shift) / (n - 1));
    const half = quantile(0.975, n - 1) * Math.sqrt(variance / n);
    return { mean, low: mean - half, high: mean + half };
  }
}

/** The mean of values, with its 95 % interval. */
export function intervalOf(values: Float32Array | Float64Array): Interval {
  const moments = new Moments();
  moments.addAll(values);
  return moments.interval();
}
