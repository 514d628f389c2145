/** Sums and intervals, compared with results computed by hand and with exact sums. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompensatedSum, Moments } from '../../src/shared/statistics.js';

/** Sums float32s in [0, 1] exactly, as multiples of 2^-149. @returns the sum as a float64. */
function exactSum(values: Float32Array): number {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  let sum = 0n;
  for (const word of bits) {
    const exponent = word >>> 23;
    const fraction = BigInt(word & 0x7fffff);
    sum += exponent === 0 ? fraction : (fraction | 0x800000n) << BigInt(exponent - 1);
  }
  return Number(sum) * 2 ** -149;
}

const scores = fc.float32Array({ min: 0, max: 1, noNaN: true, minLength: 1, maxLength: 2000 });

describe('CompensatedSum', () => {
  it('keeps digits that a plain sum drops', () => {
    const sum = new CompensatedSum();
    sum.addColumn(Float64Array.of(1, 1e100, 1, -1e100), 0, 1);
    expect(sum.value).toBe(2);
  });

  it('equals the exact sum up to rounding', () => {
    fc.assert(
      fc.property(scores, (values) => {
        const sum = new CompensatedSum();
        sum.addColumn(values, 0, 1);
        expect(Math.abs(sum.value - exactSum(values))).toBeLessThanOrEqual(Number.EPSILON * sum.value);
      }),
    );
  });

  it('adds one column of a row-major table', () => {
    const sum = new CompensatedSum();
    sum.addColumn(Float32Array.of(1, 10, 2, 20, 3, 30), 1, 2);
    expect(sum.value).toBe(60);
  });
});

describe('Moments', () => {
  it('gives the 95 % interval computed by hand', () => {
    const moments = new Moments();
    moments.addAll(Float32Array.of(0.25, 0.5, 0.75));
    // Standard deviation 0.25; with two degrees of freedom t has a closed form.
    const t = 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2));
    const half = (t * 0.25) / Math.sqrt(3);
    const { mean, low, high } = moments.interval();
    expect(mean).toBe(0.5);
    expect(low).toBeCloseTo(0.5 - half, 12);
    expect(high).toBeCloseTo(0.5 + half, 12);
  });

  it('gives no interval for a single value, and an interval of width 0 for equal values', () => {
    const moments = new Moments();
    moments.addAll(Float32Array.of(0.3));
    expect(moments.interval()).toEqual({ mean: Math.fround(0.3), low: null, high: null });
    moments.addAll(new Float32Array(999).fill(0.3));
    expect(moments.interval()).toEqual({
      mean: Math.fround(0.3),
      low: Math.fround(0.3),
      high: Math.fround(0.3),
    });
  });

  it('does not depend on how the numbers are split between calls of addAll', () => {
    fc.assert(
      fc.property(scores, fc.nat(2000), (values, cut) => {
        const whole = new Moments();
        whole.addAll(values);
        const parts = new Moments();
        parts.addAll(values.subarray(0, cut));
        parts.addAll(values.subarray(cut));
        expect(parts.interval()).toEqual(whole.interval());
      }),
    );
  });
});
