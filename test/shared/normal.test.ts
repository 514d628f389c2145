/** The normal distribution and Student's t, compared with SciPy 1.17.1. */
import { expect, it } from 'vitest';
import { normalCdf, normalQuantile, tQuantile } from '../../src/shared/statistics.js';

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

/** scipy.stats.t.ppf((1 + confidence) / 2, df); at a confidence of 0.95, from the incomplete beta function with 40 digits. */
const T: readonly [df: number, confidence: number, t: number][] = [
  [1, 0.9, 6.313751514675037],
  [4, 0.99, 4.604094871349992],
  [29, 0.8, 1.311433647301551],
  [99, 0.999, 3.391528833363685],
  [500, 0.9, 1.6479068539295105],
  [9999, 0.999, 3.291500063300963],
  [1, 0.95, 12.706204736174705],
  [2, 0.95, 4.302652729749464],
  [3, 0.95, 3.1824463052837095],
  [9, 0.95, 2.2621571627982053],
  [200, 0.95, 1.9718962236339095],
  [499, 0.95, 1.964729390987689],
  [500, 0.95, 1.9647198374673678],
  [1000, 0.95, 1.9623390808264085],
];

it("normalCdf equals SciPy's value, and is 0 or 1 for large arguments", () => {
  for (const [x, p] of CDF) expect(Math.abs(normalCdf(x) - p), `${x}`).toBeLessThan(1e-15);
  expect([normalCdf(-50), normalCdf(50), normalCdf(-Infinity), normalCdf(Infinity)]).toEqual([0, 1, 0, 1]);
});

it("normalQuantile equals SciPy's value, and is within [-9, 9], where the function searches", () => {
  for (const [p, x] of PPF) expect(normalQuantile(p)).toBeCloseTo(x, 12);
  expect(normalQuantile(0.5)).toBeCloseTo(0, 15);
  for (const p of [0, 1]) expect(Math.abs(normalQuantile(p))).toBeLessThanOrEqual(9);
});

it('tQuantile is accurate, and approaches the quantile of the normal distribution', () => {
  for (const [df, confidence, t] of T) {
    const [quantile, tolerance] =
      confidence === 0.95 ? [tQuantile(df), 1e-12] : [tQuantile(df, confidence), 1e-10];
    expect(Math.abs(quantile / t - 1), `${df}, ${confidence}`).toBeLessThan(tolerance);
  }
  expect(tQuantile(1e15)).toBeCloseTo(1.959963984540054, 14);
});
