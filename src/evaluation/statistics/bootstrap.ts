/** Bootstrap intervals of a statistic of several samples (strata). Each stratum is resampled separately. */
import { normalCdf, normalQuantile } from '../../shared/normal.js';
import { CONFIDENCE } from '../../shared/t-quantile.js';
import { checkInteger, checkName } from '../../shared/values.js';
import { MAX_U32 } from '../../world/fields.js';
import { Resampler } from './resampler.js';
import { toConfidence } from './scores.js';

/** The name of a method for intervals. */
export type BootstrapMethod = 'percentile' | 'bca';

const METHODS: readonly BootstrapMethod[] = ['percentile', 'bca'];

/** Options of a bootstrap. */
export interface BootstrapOptions {
  /**
   * 'percentile' (default, as in rliable): quantiles of the statistic over the resamples. 'bca': bias-corrected and
   * accelerated (Efron 1987), which is more accurate for skewed scores and computes the statistic once more per score.
   */
  method?: BootstrapMethod;
  /** The confidence level, in (0, 1): the probability that such an interval contains the true value. Default 0.95. */
  confidence?: number;
  /** The number of resamples, 1 to 10,000,000. Default 10,000. */
  resamples?: number;
  /** u32, the seed of the resamples. The same seed gives the same interval. Default 0. */
  seed?: number;
}

/** A statistic with its bootstrap interval. */
export interface BootstrapInterval {
  /** The statistic of the scores themselves. */
  readonly value: number;
  /** Lower bound of the interval. */
  readonly low: number;
  /** Upper bound of the interval. */
  readonly high: number;
}

/** The names of the options. */
export const BOOTSTRAP_OPTIONS: readonly (keyof BootstrapOptions)[] = [
  'method',
  'confidence',
  'resamples',
  'seed',
];

/** Computes one number from samples, such as their mean. It may modify the arrays, but must not keep them. */
export type Statistic = (samples: readonly Float64Array[]) => number;

const RESAMPLES = 10_000;
const MAX_RESAMPLES = 10_000_000;

/** Validates options. @throws InputError `wrong_type`, `unknown_name` or `out_of_range`. */
export function toBootstrapOptions({
  method = METHODS[0],
  confidence = CONFIDENCE,
  resamples = RESAMPLES,
  seed = 0,
}: BootstrapOptions): Required<BootstrapOptions> {
  return {
    method: checkName('method', method, METHODS),
    confidence: toConfidence(confidence),
    resamples: checkInteger('resamples', resamples, 1, MAX_RESAMPLES),
    seed: checkInteger('seed', seed, 0, MAX_U32),
  };
}

/** Returns a statistic of strata with its interval. */
export function bootstrap(
  strata: readonly Float64Array[],
  statistic: Statistic,
  { method, confidence, resamples, seed }: Required<BootstrapOptions>,
): BootstrapInterval {
  const value = statistic(strata.map((stratum) => stratum.slice()));
  const resampler = new Resampler(seed);
  const samples = strata.map(({ length }) => new Float64Array(length));
  const distribution = new Float64Array(resamples).map(() => {
    resampler.resample(strata, samples);
    return statistic(samples);
  });
  const levels = [(1 - confidence) / 2, (1 + confidence) / 2];
  const corrected =
    method === 'bca'
      ? correctLevels(levels, bias(distribution, value), acceleration(strata, statistic))
      : levels;
  distribution.sort();
  const [low, high] = corrected.map((level) => quantile(distribution, level));
  return { value, low, high };
}

/** Returns a quantile, linear between neighbours. @param sorted ascending. @param level in [0, 1]. */
export function quantile(sorted: Float64Array, level: number): number {
  const position = level * (sorted.length - 1);
  const below = sorted[Math.floor(position)];
  return below + (sorted[Math.ceil(position)] - below) * (position - Math.floor(position));
}

/** Returns BCa's levels of quantiles for the levels of the percentile method (Efron 1987). */
export const correctLevels = (levels: readonly number[], bias: number, acceleration: number): number[] =>
  levels.map((level) => {
    const shifted = bias + normalQuantile(level);
    return normalCdf(bias + shifted / (1 - acceleration * shifted));
  });

/**
 * Returns the bias correction: the normal quantile of the share of resamples below the value, where equal resamples count half.
 * If all resamples lie on one side of the value, half a resample is assumed on the other side.
 */
export function bias(distribution: Float64Array, value: number): number {
  const below = distribution.reduce(
    (count, each) => count + Number(each < value) / 2 + Number(each <= value) / 2,
    0,
  );
  const most = distribution.length - 0.5;
  return normalQuantile(Math.min(Math.max(below, 0.5), most) / distribution.length);
}

/** Returns the acceleration by the jackknife over the scores of all strata; 0 if no score changes the statistic. */
export function acceleration(strata: readonly Float64Array[], statistic: Statistic): number {
  let [cubes, squares] = [0, 0];
  for (const [s, { length }] of strata.entries()) {
    // The only score of a stratum cannot be left out. Resamples of such a stratum never vary.
    if (length < 2) continue;
    const values = jackknife(strata, s, statistic);
    const mean = values.reduce((sum, value) => sum + value, 0) / length;
    for (const value of values) {
      const influence = ((length - 1) * (mean - value)) / length;
      cubes += influence ** 3;
      squares += influence ** 2;
    }
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}

/** Returns the statistics without each score of stratum `s` in turn. The statistic may modify its arrays. */
const jackknife = (strata: readonly Float64Array[], s: number, statistic: Statistic): Float64Array =>
  strata[s].map((_, i) =>
    statistic(strata.map((stratum, k) => (k === s ? without(stratum, i) : stratum.slice()))),
  );

const without = (values: Float64Array, i: number): Float64Array => values.filter((_, k) => k !== i);
