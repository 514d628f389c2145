/** 97.5 % quantiles of Student's t, compared with values computed with 40 digits from the incomplete beta function. */
import { expect, it } from 'vitest';
import { tQuantile } from '../../src/shared/t-quantile.js';

it.each([
  [1, 12.706204736174705],
  [2, 4.302652729749464],
  [3, 3.1824463052837095],
  [4, 2.7764451051977943],
  [9, 2.2621571627982053],
  [29, 2.0452296421327043],
  [99, 1.9842169515864174],
  [200, 1.9718962236339095],
  [499, 1.964729390987689],
  [500, 1.9647198374673678],
  [1000, 1.9623390808264085],
  [4095, 1.9605434621072308],
])('the quantile is accurate to 12 digits with %i degrees of freedom', (df, quantile) => {
  expect(Math.abs(tQuantile(df) / quantile - 1)).toBeLessThan(1e-12);
});

it('the quantile approaches that of the normal distribution', () => {
  expect(tQuantile(1e15)).toBeCloseTo(1.959963984540054, 14);
});
