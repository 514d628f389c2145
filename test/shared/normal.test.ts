/** The normal distribution and Student's t, compared with SciPy 1.17.1. */
import { describe, expect, it } from 'vitest';
import { normalCdf, normalQuantile } from '../../src/shared/normal.js';
import { tQuantile } from '../../src/shared/t-quantile.js';

/** scipy.stats.norm.cdf(x). */
const CDF: readonly [x: number, p: number][] = [
  [-6, 9.865876450376946e-10],
  [-2.5, 0.006209665325776132],
  [-0.3, 0.3820885778110474],
  [0, 0.5],
  [0.7, 0.758036347776927],
  [4, 0.9999683287581669],
];

/** scipy.stats.norm.ppf(p). */
const PPF: readonly [p: number, x: number][] = [
  [0.001, -3.090232306167813],
  [0.025, -1.9599639845400545],
  [0.3, -0.5244005127080409],
  [0.9, 1.2815515655446004],
  [0.9995, 3.2905267314919255],
];

/** scipy.stats.t.ppf((1 + confidence) / 2, df). */
const T: readonly [df: number, confidence: number, t: number][] = [
  [1, 0.9, 6.313751514675037],
  [4, 0.99, 4.604094871349992],
  [29, 0.8, 1.311433647301551],
  [99, 0.999, 3.391528833363685],
  [500, 0.9, 1.6479068539295105],
  [1499, 0.99, 2.5791131239474527],
  [9999, 0.999, 3.291500063300963],
];

describe('normalCdf', () => {
  it.each(CDF)("of %d equals SciPy's value", (x, p) => {
    expect(Math.abs(normalCdf(x) - p)).toBeLessThan(1e-15);
  });

  it('is 0 or 1 for large arguments', () => {
    expect([normalCdf(-50), normalCdf(50), normalCdf(-Infinity), normalCdf(Infinity)]).toEqual([0, 1, 0, 1]);
  });
});

describe('normalQuantile', () => {
  it.each(PPF)("of %d equals SciPy's value", (p, x) => {
    expect(normalQuantile(p)).toBeCloseTo(x, 12);
  });

  it('of 0.5 is 0, and of 0 and 1 is within [-9, 9], where the function searches', () => {
    expect(normalQuantile(0.5)).toBeCloseTo(0, 15);
    expect(Math.abs(normalQuantile(0))).toBeLessThanOrEqual(9);
    expect(Math.abs(normalQuantile(1))).toBeLessThanOrEqual(9);
  });
});

describe('tQuantile', () => {
  it.each(T)("with %d degrees of freedom at confidence %d equals SciPy's value", (df, confidence, t) => {
    expect(Math.abs(tQuantile(df, confidence) / t - 1)).toBeLessThan(1e-10);
  });
});
