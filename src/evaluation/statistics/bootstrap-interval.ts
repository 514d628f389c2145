/** Statistics of scores with stratified bootstrap intervals, as in rliable. */
import { InputError } from '../../shared/errors.js';
import { checkFinite, checkName, readOptions } from '../../shared/values.js';
import { iqmOf, meanOfTasks, medianOfTasks } from './aggregates.js';
import {
  BOOTSTRAP_OPTIONS,
  type BootstrapInterval,
  type BootstrapOptions,
  bootstrap,
  type Statistic,
  toBootstrapOptions,
} from './bootstrap.js';
import { type TaskScores, toTasks } from './scores.js';

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
    throw new InputError(
      'wrong_length',
      `Expected others of ${tasks.length} tasks, like scores, got ${otherTasks.length}. Pass the same tasks.`,
    );
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
