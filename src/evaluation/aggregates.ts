/** Means, aggregates as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264), and paired differences of scores. */
import { InputError } from '../shared/errors.js';
import { CONFIDENCE, type Interval, intervalOf } from '../shared/statistics.js';
import { checkFinite, checkLength, describe, isList, readOptions, wrongType } from '../shared/values.js';

/**
 * Scores of one task, or a list of scores per task. A task is a group in which scores are compared, such as a condition
 * or a profile. It has one score per episode, or one per training run (see `runMeans`). Tasks may have different
 * numbers of scores.
 */
export type TaskScores = ArrayLike<number> | readonly ArrayLike<number>[];

/** Returns scores as float64. @throws InputError `wrong_type`, `out_of_range`, or `wrong_length` for an empty list. */
export function toScores(what: string, scores: unknown): Float64Array {
  if (!isList(scores))
    throw wrongType(what, 'a list of numbers', scores, 'Pass one number per episode or run.');
  if (scores.length === 0) throw noScores(what);
  return Float64Array.from({ length: scores.length }, (_, i) => checkFinite(`${what}[${i}]`, scores[i]));
}

/** Returns scores as float64, by task. @throws as `toScores`. */
export function toTasks(what: string, scores: TaskScores): Float64Array[] {
  if (!isList(scores))
    throw wrongType(what, 'a list', scores, 'Pass numbers, or a list of numbers per task.');
  const lists: ArrayLike<unknown> = scores;
  if (lists.length > 0 && !isList(lists[0])) return [toScores(what, scores)];
  if (lists.length === 0) throw noScores(what);
  return Array.from(lists, (task, t) => toScores(`${what}[${t}]`, task));
}

/** Validates a confidence, such as 0.95. @throws InputError `wrong_type` or `out_of_range`. */
export function toConfidence(confidence: number): number {
  if (checkFinite('confidence', confidence) > 0 && confidence < 1) return confidence;
  throw new InputError('out_of_range', {
    expected: 'confidence to be more than 0 and less than 1',
    got: describe(confidence),
    remedy: 'Pass 0.95 for 95 %.',
  });
}

const noScores = (what: string): InputError =>
  new InputError('wrong_length', {
    expected: `at least one score in ${what}`,
    got: 'none',
    remedy: 'Pass a score.',
  });

/**
 * Returns the interquartile mean of scores: the mean without the lowest and the highest quarter. It depends less on single
 * scores than the mean, and less on chance than the median. Tasks (see `TaskScores`) are pooled. Of n scores,
 * floor(n / 4) are left out at each end.
 * @throws InputError `wrong_type`, `wrong_length` for an empty list, or `out_of_range`.
 */
export const interquartileMean = (scores: TaskScores): number => iqmOf(toTasks('scores', scores));

/**
 * Returns the mean score of each training run. Statistics over runs take these means as scores: the episodes of a run depend
 * on the same training, so an interval over the episodes of all runs together would be too narrow.
 * @param runs the scores of the episodes, by run. @returns f64 [runs].
 * @throws InputError `wrong_type`, `wrong_length` for a run without scores, or `out_of_range`.
 */
export const runMeans = (runs: readonly ArrayLike<number>[]): Float64Array =>
  Float64Array.from(runs, (episodes, run) => meanOf(toScores(`runs[${run}]`, episodes)));

/** The share of the scores that the interquartile mean leaves out at each end. */
const TRIMMED = 1 / 4;

/** Returns the mean. @param values at least one. */
export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Returns the interquartile mean of all tasks together. */
export function iqmOf(tasks: readonly Float64Array[]): number {
  const pooled = new Float64Array(tasks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const task of tasks) {
    pooled.set(task, at);
    at += task.length;
  }
  pooled.sort();
  const trimmed = Math.floor(pooled.length * TRIMMED);
  return meanOf(pooled.subarray(trimmed, pooled.length - trimmed));
}

/** Returns the mean of the tasks' means. */
export const meanOfTasks = (tasks: readonly Float64Array[]): number =>
  meanOf(Float64Array.from(tasks, meanOf));

/** Returns the median of the tasks' means. */
export function medianOfTasks(tasks: readonly Float64Array[]): number {
  const means = Float64Array.from(tasks, meanOf).sort();
  const middle = (means.length - 1) / 2;
  return (means[Math.floor(middle)] + means[Math.ceil(middle)]) / 2;
}

/** Options of `meanInterval` and `pairedDifference`. */
export interface IntervalOptions {
  /** The confidence level, in (0, 1): the probability that such an interval contains the true mean. Default 0.95. */
  confidence?: number;
}

const OPTIONS: readonly (keyof IntervalOptions)[] = ['confidence'];

/**
 * Returns the mean of scores with its interval by Student's t distribution. The scores must be independent. Scores of
 * episodes measure one policy; scores of training runs measure a training method.
 * @param scores at least one; a single score has no interval.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `unknown_option`.
 */
export function meanInterval(scores: ArrayLike<number>, options: IntervalOptions = {}): Interval {
  return intervalOf(toScores('scores', scores), confidenceOf('meanInterval', options));
}

/**
 * Returns the mean of `scores` minus `others`, pair by pair, with its interval: the lead of one policy over another, as
 * `reeval`, `regrade` and `audit` print it. On the same seeds its interval is usually narrower than for independent scores,
 * because the noise common to both cancels out.
 * @param scores one per episode. @param others the scores of the same episodes, in the same order.
 * @throws as `meanInterval`; `wrong_length` also for lists of different lengths.
 */
export function pairedDifference(
  scores: ArrayLike<number>,
  others: ArrayLike<number>,
  options: IntervalOptions = {},
): Interval {
  const confidence = confidenceOf('pairedDifference', options);
  const values = toScores('scores', scores);
  const subtracted = toScores('others', others);
  checkLength('others', subtracted.length, values.length, 'one for each score');
  return intervalOf(
    values.map((value, i) => value - subtracted[i]),
    confidence,
  );
}

function confidenceOf(name: string, options: IntervalOptions): number {
  const { confidence = CONFIDENCE } = readOptions(`options of ${name}`, options, OPTIONS);
  return toConfidence(confidence);
}
