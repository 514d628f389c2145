/** Statistics of scores with bootstrap intervals, as in rliable. Each stratum (the scores of a task) is resampled separately. */
import { type Draw, threefry } from '../engine/reference/threefry.js';
import { InputError } from '../shared/errors.js';
import { CONFIDENCE, normalCdf, normalQuantile } from '../shared/statistics.js';
import { checkFinite, checkInteger, checkName, readOptions } from '../shared/values.js';
import { MAX_U32 } from '../world/fields.js';
import { iqmOf, meanOfTasks, medianOfTasks, type TaskScores, toConfidence, toTasks } from './aggregates.js';

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

/** The second word of Threefry's key, "BOOT" in ASCII; the first is a seed. The world's streams have other numbers. */
const STREAM = 0x424f4f54;
/** The number of u32 values. */
const RANGE = 2 ** 32;

/** Draws the resamples of a bootstrap, one after the other. */
export class Resampler {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #count = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Fills each `samples[s]` with numbers drawn from `strata[s]` with replacement. */
  resample(strata: readonly Float64Array[], samples: readonly Float64Array[]): void {
    for (const [s, stratum] of strata.entries()) {
      const sample = samples[s];
      for (let i = 0; i < sample.length; i++) {
        sample[i] = stratum[Math.floor((this.#next() / RANGE) * stratum.length)];
      }
    }
  }

  /** Returns the next random u32. A block of Threefry gives two numbers. */
  #next(): number {
    const count = this.#count++;
    if (count % 2 === 1) return this.#block.x1;
    const block = count / 2;
    return threefry(this.#seed, STREAM, block % RANGE, Math.floor(block / RANGE), this.#block).x0;
  }
}

/** The name of a statistic, after rliable's `aggregate_...`. */
export type StatisticName = 'mean' | 'iqm' | 'median';

const STATISTICS: Readonly<Record<StatisticName, Statistic>> = {
  mean: meanOfTasks,
  iqm: iqmOf,
  median: medianOfTasks,
};

/** Options of `bootstrapInterval`. */
export interface BootstrapIntervalOptions extends BootstrapOptions {
  /**
   * 'mean' (default): the mean of the tasks' means. 'iqm': the interquartile mean of all scores. 'median': the median
   * of the tasks' means. Or a function of the scores by task, which may modify but not keep these arrays.
   */
  statistic?: StatisticName | ((tasks: readonly Float64Array[]) => number);
}

const OPTIONS: readonly (keyof BootstrapIntervalOptions)[] = ['statistic', ...BOOTSTRAP_OPTIONS];

/**
 * Returns a statistic of scores with its bootstrap interval. Every resample draws as many scores from each task as the task
 * has, with replacement, so that no task weighs more by chance (stratified, as in rliable). Pass scores of training runs
 * (`runMeans`) for an interval over training runs, and scores of episodes for an interval over episodes.
 * @throws InputError `wrong_type`, `wrong_length` for a task without scores, `out_of_range` (also for a statistic that is not
 *   finite), `unknown_name` or `unknown_option`; and the errors of the statistic.
 */
export function bootstrapInterval(
  scores: TaskScores,
  options: BootstrapIntervalOptions = {},
): BootstrapInterval {
  const { statistic = 'mean', ...rest } = readOptions('options of bootstrapInterval', options, OPTIONS);
  return bootstrap(toTasks('scores', scores), toStatistic(statistic), toBootstrapOptions(rest));
}

function toStatistic(statistic: NonNullable<BootstrapIntervalOptions['statistic']>): Statistic {
  if (typeof statistic !== 'function') {
    const names = Object.keys(STATISTICS) as StatisticName[];
    return STATISTICS[checkName('statistic', statistic, names)];
  }
  return (tasks) => checkFinite('the statistic', statistic(tasks));
}

/**
 * Returns the probability that a score is higher than another policy's score in the same task (Mann and Whitney's U, as in
 * rliable): the mean over tasks of the share of pairs whose first score is higher. Equal scores count half.
 * @param others the other policy's scores in the same tasks, in the same order; the numbers of scores may differ.
 * @throws InputError `wrong_type`, `wrong_length` (also for different numbers of tasks) or `out_of_range`.
 */
export function probabilityOfImprovement(scores: TaskScores, others: TaskScores): number {
  const { strata, statistic } = toComparison(scores, others);
  return statistic(strata);
}

/**
 * Returns `probabilityOfImprovement` with its bootstrap interval, which resamples both sides separately within each task.
 * It does not pair the scores. `pairedDifference` compares scores of the same seeds.
 * @throws as `probabilityOfImprovement`; also `unknown_name` and `unknown_option`.
 */
export function improvementInterval(
  scores: TaskScores,
  others: TaskScores,
  options: BootstrapOptions = {},
): BootstrapInterval {
  const checked = readOptions('options of improvementInterval', options, BOOTSTRAP_OPTIONS);
  const { strata, statistic } = toComparison(scores, others);
  return bootstrap(strata, statistic, toBootstrapOptions(checked));
}

/** Returns the tasks of both sides as strata, and the statistic of these strata. */
function toComparison(scores: TaskScores, others: TaskScores) {
  const [tasks, otherTasks] = [toTasks('scores', scores), toTasks('others', others)];
  if (tasks.length !== otherTasks.length) {
    throw new InputError('wrong_length', {
      expected: `others of ${tasks.length} tasks, like scores`,
      got: `${otherTasks.length}`,
      remedy: 'Pass the same tasks.',
    });
  }
  const statistic: Statistic = (strata) => {
    const wins = tasks.map((_, t) => shareOfWins(strata[t], strata[tasks.length + t]));
    return wins.reduce((sum, share) => sum + share, 0) / tasks.length;
  };
  return { strata: [...tasks, ...otherTasks], statistic };
}

/** Returns the share of pairs (one of `values`, one of `others`) whose first value is higher; equal pairs count half. */
function shareOfWins(values: Float64Array, others: Float64Array): number {
  const sorted = values.slice().sort();
  const sortedOthers = others.slice().sort();
  let [below, upTo, wins] = [0, 0, 0];
  for (const value of sorted) {
    while (below < sortedOthers.length && sortedOthers[below] < value) below++;
    while (upTo < sortedOthers.length && sortedOthers[upTo] <= value) upTo++;
    wins += (below + upTo) / 2;
  }
  return wins / (values.length * others.length);
}
