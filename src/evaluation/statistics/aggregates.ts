/** Means of runs, and aggregates of scores as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264). */
import { type TaskScores, toScores, toTasks } from './scores.js';

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
