/** Options of a search. */
import type { BackendName, KernelName } from '../../engine/backends/backend.js';
import type { GraderLike } from '../../engine/graders/grader.js';
import type { WorldSpec } from '../../world/numbers.js';
import type { ProfileKindName } from '../../world/resolve-names.js';

/** The episodes for which a search optimises an action sequence. */
export interface ActionSequenceProblem {
  /** u32 each: seeds of the training episodes. With a sampled or discrete `profile` they determine the profiles too. */
  readonly seeds: ArrayLike<number>;
  /** 'sampled' (default) or 'discrete', from each seed; or one profile for all episodes: a name, or 16 floats. */
  readonly profile?: ProfileKindName | ArrayLike<number>;
}

/** Options of a search for action sequences. */
export interface ActionSequenceSearchOptions {
  /** The grader whose mean final score is maximised: a name, a Grader, or eight weights that sum to 1. Default 'v2'. */
  readonly grader?: GraderLike;
  /**
   * Lower bound for the mean, over the episodes, of `firstHalfMeans` (the mean reward of the first 14 steps). A sequence below
   * the bound ranks behind every sequence that reaches it. Default: none.
   */
  readonly minFirstHalfMean?: number;
  /** The minimum number of action sequences to score for each problem, 1,000 to 10^9. Default 300,000. */
  readonly evaluations?: number;
  /** Codes [n, 28]: sequences to start from. On the training seeds the result ranks at least as high as each. Default: none. */
  readonly initialSequences?: ArrayLike<number>;
  /** u32, seed of the search's random numbers. Default 0. */
  readonly seed?: number;
  /** Whether noise and events are drawn from streams that no real episode uses. Default false. */
  readonly imagination?: boolean;
  /** A world with other numbers. Default: the published world. */
  readonly world?: WorldSpec;
  /** As in `VecEnvOptions`; changes no result. */
  readonly backend?: BackendName;
  /** As in `VecEnvOptions`; changes no result. */
  readonly kernel?: KernelName;
  /** As in `VecEnvOptions`; changes no result. */
  readonly threads?: number;
  /** Called with the number of sequences scored so far and the total, over all problems. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with the signal's reason, within milliseconds. */
  readonly signal?: AbortSignal;
}

/** The names of the options, for their validation. */
export const OPTIONS: readonly (keyof ActionSequenceSearchOptions)[] = [
  'grader',
  'minFirstHalfMean',
  'evaluations',
  'initialSequences',
  'seed',
  'imagination',
  'world',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
/** The names of the fields of a problem, for their validation. */
export const PROBLEM_OPTIONS: readonly (keyof ActionSequenceProblem)[] = ['seeds', 'profile'];
