/**
 * Exported statistics and the parts of the bootstrap, compared with numbers worked by hand, with SciPy 1.17.1 (also on exact
 * distributions) and with rliable's formulas in NumPy.
 */
import { describe, expect, it } from 'vitest';
import { acceleration, bias, correctLevels, quantile } from '../../../src/evaluation/bootstrap.js';
import {
  bootstrapInterval,
  type ErrorCode,
  improvementInterval,
  interquartileMean,
  meanInterval,
  pairedDifference,
  probabilityOfImprovement,
  runMeans,
} from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

/** Scores of five training runs, by task. */
const SCORES = [
  [0.61, 0.58, 0.66, 0.52, 0.7],
  [0.42, 0.47, 0.4, 0.51, 0.44],
  [0.55, 0.49, 0.58, 0.53, 0.5],
];
/** Scores of four training runs of another method, by task. */
const OTHERS = [
  [0.57, 0.55, 0.6, 0.58],
  [0.45, 0.47, 0.39, 0.43],
  [0.5, 0.46, 0.52, 0.53],
];
const SKEWED = [0.1, 0.15, 0.2, 0.22, 0.25, 0.3, 0.35, 0.9, 1.6, 2.5];

describe('meanInterval', () => {
  it("equals SciPy's interval at a confidence of 0.9", () => {
    // scipy.stats.ttest_1samp(SCORES[0], 0).confidence_interval(0.9)
    const { mean, low, high } = meanInterval(SCORES[0], { confidence: 0.9 });
    expect(mean).toBeCloseTo(0.614, 14);
    expect(low).toBeCloseTo(0.5473989773120387, 12);
    expect(high).toBeCloseTo(0.6806010226879615, 12);
  });

  it('of a single score has no bounds', () => {
    expect(meanInterval([0.5])).toEqual({ mean: 0.5, low: null, high: null });
  });
});

describe('pairedDifference', () => {
  it("equals the interval of SciPy's paired t-test", () => {
    // scipy.stats.ttest_rel(SCORES[0][:4], OTHERS[0]).confidence_interval(0.95)
    const { mean, low, high } = pairedDifference(SCORES[0].slice(0, 4), OTHERS[0]);
    expect(mean).toBeCloseTo(0.0175, 14);
    expect(low).toBeCloseTo(-0.0670746706659111, 12);
    expect(high).toBeCloseTo(0.10207467066591114, 12);
  });
});

describe('interquartileMean', () => {
  it("leaves out a quarter of the scores of all tasks at each end, as SciPy's trim_mean and rliable's aggregate_iqm", () => {
    expect(interquartileMean(Float32Array.of(9, 1, 2, 3, -9))).toBe(2);
    expect(interquartileMean([1, 2, 6])).toBe(3);
    expect(interquartileMean(SCORES)).toBeCloseTo(0.5255555555555556, 14);
    expect(interquartileMean(OTHERS)).toBeCloseTo(0.505, 14);
  });
});

it('runMeans gives the mean of each run', () => {
  expect([...runMeans([[1, 2], [5], Float32Array.of(0, 0, 3)])]).toEqual([1.5, 5, 1]);
});

describe('probabilityOfImprovement', () => {
  it('is the share of pairs whose first score is higher; an equal pair counts half', () => {
    expect(probabilityOfImprovement([1, 2, 3], [2])).toBe((0 + 0.5 + 1) / 3);
    expect(probabilityOfImprovement([2, 2], [2, 2])).toBe(0.5);
  });

  it("is the mean over tasks of SciPy's mannwhitneyu, as in rliable", () => {
    const byTask = SCORES.map((scores, t) => probabilityOfImprovement(scores, OTHERS[t]));
    expect(byTask).toEqual([0.725, 0.575, 0.7].map((share) => expect.closeTo(share, 14)));
    expect(probabilityOfImprovement(SCORES, OTHERS)).toBeCloseTo(2 / 3, 14);
    expect(probabilityOfImprovement(OTHERS, SCORES)).toBeCloseTo(1 / 3, 14);
  });
});

/**
 * rliable's intervals are numpy.percentile over 400,000 stratified resamples by NumPy's generator (seed 1). The tests compare
 * intervals of 40,000 resamples. With ten seeds, the bounds of these varied by less than 0.0012, and those of the probability
 * by 1/120, its smallest step: it is a mean over three tasks of shares of 5 x 4 pairs, and an equal pair counts half.
 */
describe('the stratified bootstrap', () => {
  const resamples = 40_000;

  it.each([
    ['iqm', 0.5255555555555556, 0.50222222, 0.55111111],
    ['mean', 0.5306666666666667, 0.50733333, 0.554],
    ['median', 0.53, 0.502, 0.558],
  ] as const)("gives rliable's interval of %s", (statistic, value, low, high) => {
    const interval = bootstrapInterval(SCORES, { statistic, resamples });
    expect(interval.value).toBeCloseTo(value, 14);
    expect(Math.abs(interval.low - low)).toBeLessThan(0.0015);
    expect(Math.abs(interval.high - high)).toBeLessThan(0.0015);
  });

  it("gives rliable's interval of the probability of improvement", () => {
    const interval = improvementInterval(SCORES, OTHERS, { resamples });
    expect(interval.value).toBeCloseTo(2 / 3, 14);
    expect(Math.abs(interval.low - 0.44166667)).toBeLessThan(0.009);
    expect(Math.abs(interval.high - 0.86666667)).toBeLessThan(0.009);
  });

  it("gives the intervals of SciPy's bootstrap for a skewed sample, by both methods", () => {
    // scipy.stats.bootstrap((SKEWED,), np.mean, n_resamples=999999, method=...)
    const percentile = bootstrapInterval(SKEWED, { resamples });
    expect(Math.abs(percentile.low - 0.249)).toBeLessThan(0.005);
    expect(Math.abs(percentile.high - 1.175)).toBeLessThan(0.015);
    const bca = bootstrapInterval(SKEWED, { resamples, method: 'bca' });
    expect(Math.abs(bca.low - 0.309)).toBeLessThan(0.005);
    expect(Math.abs(bca.high - 1.34)).toBeLessThan(0.02);
  });

  it('accepts a function as the statistic, which may sort its arrays', () => {
    const range = ([scores]: readonly Float64Array[]): number => {
      scores.sort();
      return scores[scores.length - 1] - scores[0];
    };
    const { value, low, high } = bootstrapInterval([3, 1, 2], {
      statistic: range,
      method: 'bca',
      confidence: 0.8,
    });
    expect(value).toBe(2);
    expect(low).toBeLessThanOrEqual(high);
  });

  it('depends on its seed, and is wider for a higher confidence', () => {
    const intervalWith = (seed: number, confidence = 0.95) =>
      bootstrapInterval(SKEWED, { seed, confidence, resamples: 2000 });
    expect(intervalWith(3)).toEqual(intervalWith(3));
    expect(intervalWith(4)).not.toEqual(intervalWith(3));
    expect(intervalWith(3, 0.99).low).toBeLessThan(intervalWith(3, 0.8).low);
    expect(intervalWith(3, 0.99).high).toBeGreaterThan(intervalWith(3, 0.8).high);
  });

  it('has width 0 for equal scores', () => {
    const interval = bootstrapInterval([[0.5, 0.5], [0.5]], { method: 'bca', resamples: 50 });
    expect(interval).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
  });
});

it.each<[name: string, call: () => unknown, code: ErrorCode]>([
  ['an empty list', () => meanInterval([]), 'wrong_length'],
  ['a value that is not finite', () => meanInterval([0.5, Number.NaN]), 'out_of_range'],
  ['a text', () => meanInterval('0.5' as never), 'wrong_type'],
  ['an unknown option', () => meanInterval([1], { level: 0.9 } as never), 'unknown_option'],
  ...[0, 1, 95].map((confidence): [string, () => unknown, ErrorCode] => [
    `a confidence of ${confidence}`,
    () => meanInterval([1], { confidence }),
    'out_of_range',
  ]),
  ['pairs of lists of different lengths', () => pairedDifference(SCORES[0], OTHERS[0]), 'wrong_length'],
  ['a run without scores', () => runMeans([[1], []]), 'wrong_length'],
  ['another number of tasks', () => probabilityOfImprovement(SCORES, OTHERS.slice(1)), 'wrong_length'],
  ['an unknown method', () => bootstrapInterval([1], { method: 'bc' as never }), 'unknown_name'],
  ['an unknown statistic', () => bootstrapInterval([1], { statistic: 'iqn' as never }), 'unknown_name'],
  ['no resamples', () => bootstrapInterval([1], { resamples: 0 }), 'out_of_range'],
  ['a negative seed', () => bootstrapInterval([1], { seed: -1 }), 'out_of_range'],
  ['a task without scores', () => bootstrapInterval([[1], []]), 'wrong_length'],
  ['no tasks', () => bootstrapInterval([]), 'wrong_length'],
  [
    'a statistic that gives NaN',
    () => bootstrapInterval([1], { statistic: () => Number.NaN }),
    'out_of_range',
  ],
  [
    'a statistic of pairs',
    () => improvementInterval([1], [1], { statistic: 'iqm' } as never),
    'unknown_option',
  ],
])('%s is refused', (_, call, code) => expectRefusal(call, code));

const meanOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** Returns all lists of `length` values of a stratum. */
function allResamples(stratum: readonly number[], length = stratum.length): number[][] {
  if (length === 0) return [[]];
  return allResamples(stratum, length - 1).flatMap((rest) => stratum.map((value) => [...rest, value]));
}

const SMALL = [1, 2, 4];
const OTHER = [0, 1, 1.5, 5];
/** The means of all 27 resamples: the exact bootstrap distribution. */
const MEANS = Float64Array.from(allResamples(SMALL), meanOf).sort();

describe('quantile', () => {
  it('is linear between neighbours', () => {
    const sorted = Float64Array.of(1, 2, 4, 8);
    expect([0, 1 / 3, 0.5, 0.9, 1].map((level) => quantile(sorted, level))).toEqual(
      [1, 2, 3, 6.8, 8].map(near),
    );
  });
});

const near = (value: number) => expect.closeTo(value, 12);

describe('BCa (bias-corrected and accelerated intervals)', () => {
  const statistic = ([values]: readonly Float64Array[]): number => meanOf(values);

  it('computes the bias from the share of lower resamples, where an equal resample counts half', () => {
    // 11 of the 27 means are lower than 7/3 and 6 equal: scipy.stats.norm.ppf(14 / 27).
    expect(bias(MEANS, meanOf(SMALL))).toBeCloseTo(0.046435724770526994, 12);
    expect(bias(Float64Array.of(1, 2, 3, 4), 2.5)).toBeCloseTo(0, 12);
  });

  it('counts half a resample as lower if none is lower, and half as higher if none is higher', () => {
    const [low, high] = [bias(Float64Array.of(2, 3), 1), bias(Float64Array.of(2, 3), 9)];
    expect(low).toBeCloseTo(-0.6744897501960817, 12); // the normal quantile of 0.25
    expect(high).toBeCloseTo(0.6744897501960817, 12);
  });

  it('has the acceleration of the jackknife', () => {
    // By hand: influences -4/9, -1/9, 5/9; their cubes sum to 60/729, their squares to 42/81.
    expect(acceleration([Float64Array.from(SMALL)], statistic)).toBeCloseTo(
      60 / 729 / (6 * (42 / 81) ** 1.5),
      12,
    );
  });

  it('has acceleration 0 for equal scores and for a single score', () => {
    expect(acceleration([Float64Array.of(2, 2, 2)], statistic)).toBe(0);
    expect(acceleration([Float64Array.of(2)], statistic)).toBe(0);
  });

  it('corrects the levels of two samples as SciPy does', () => {
    const strata = [SMALL, OTHER].map((values) => Float64Array.from(values));
    const difference = ([a, b]: readonly Float64Array[]): number => meanOf(a) - meanOf(b);
    const distribution = Float64Array.from(
      allResamples(SMALL).flatMap((a) => allResamples(OTHER).map((b) => meanOf(a) - meanOf(b))),
    );
    const a = acceleration(strata, difference);
    expect(a).toBeCloseTo(-0.02803890511266343, 12);
    const corrected = correctLevels([0.05, 0.95], bias(distribution, meanOf(SMALL) - meanOf(OTHER)), a);
    expect(corrected).toEqual([0.03886776809114041, 0.9377599109701126].map(near));
  });
});
