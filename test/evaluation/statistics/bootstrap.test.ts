/** Parts of the bootstrap, compared with numbers worked by hand and with SciPy 1.17.1 on exact distributions. */
import { describe, expect, it } from 'vitest';
import { acceleration, bias, correctLevels, quantile } from '../../../src/evaluation/statistics/bootstrap.js';
import { Resampler } from '../../../src/evaluation/statistics/resampler.js';

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

describe('Resampler', () => {
  const strata = [Float64Array.of(10, 20, 30), Float64Array.of(-1, -2)];
  const draw = (seed: number): number[][] => {
    const samples = [new Float64Array(3000), new Float64Array(3000)];
    new Resampler(seed).resample(strata, samples);
    return samples.map((sample) => [...sample]);
  };

  it('draws each value of a stratum about equally often, and no value of another stratum', () => {
    for (const [s, sample] of draw(5).entries()) {
      for (const value of strata[s]) {
        // The tolerance is more than three standard errors of the share: sqrt(1/4 / 3000) is 0.0091.
        const share = sample.filter((each) => each === value).length / sample.length;
        expect(Math.abs(share - 1 / strata[s].length)).toBeLessThan(0.03);
      }
      expect(sample.every((value) => strata[s].includes(value))).toBe(true);
    }
  });

  it('draws the same samples for the same seed, and other samples for another seed', () => {
    expect(draw(5)).toEqual(draw(5));
    expect(draw(6)).not.toEqual(draw(5));
  });
});
