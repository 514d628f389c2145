/** What a search is asked for. */
import type { WorldSpec } from '../world/spec.js';

/** Whose weeks a tape is to be good in. */
export interface TapeProblem {
  /** u32 each: the luck of the weeks that are played in training and, where the profile says so, their persons. */
  readonly seeds: ArrayLike<number>;
  /** 'sampled' (default) or 'discrete', by each seed; or one person in all weeks: a name, or 16 floats. */
  readonly profile?: string | ArrayLike<number>;
}

export interface TapeSearchOptions {
  /** The mean final score under this is maximised: a grader's name, or six weights that sum to 1. Default 'v2'. */
  readonly grader?: string | ArrayLike<number>;
  /** What the mean of `earlyMeans` must reach: a tape that falls short is worse than any that does not. Default: none. */
  readonly leastEarlyMean?: number;
  /** Tapes to score for each problem, at least: 1,000 to 10^9. Default 300,000. */
  readonly evaluations?: number;
  /** Codes, [n, 28]: tapes to consider besides, so that what is found is no worse in training. Default: none. */
  readonly initialTapes?: ArrayLike<number>;
  /** u32, of the search's own random numbers. Default 0. */
  readonly seed?: number;
  /** Luck and events that no real episode has. Default false. */
  readonly imagination?: boolean;
  readonly world?: WorldSpec;
  /** As in `VecEnvOptions`: where it is computed, which changes nothing in what is found. */
  readonly backend?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Called every few milliseconds, with the tapes scored and to be scored, of all problems together. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason, within milliseconds. */
  readonly signal?: AbortSignal;
}

export const OPTIONS: readonly (keyof TapeSearchOptions)[] = [
  'grader',
  'leastEarlyMean',
  'evaluations',
  'initialTapes',
  'seed',
  'imagination',
  'world',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
export const PROBLEM_OPTIONS: readonly (keyof TapeProblem)[] = ['seeds', 'profile'];
