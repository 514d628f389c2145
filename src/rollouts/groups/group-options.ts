/** Types of `rolloutGroups`: its options, and the input of a policy. */
import type { BackendName, KernelName } from '../../engine/backends/backend.js';
import type { HistoryStep } from '../../engine/observe/past-step.js';
import type { Policy, PolicyFunction, PolicyView } from '../../engine/policy/policy.js';
import type { GraderChoice, ProfileChoice } from '../../engine/validate/profiles.js';
import type { AnyVecEnv } from '../../engine/vec-env/any-vec-env.js';
import type { WorldSpec } from '../../world/numbers.js';

/** What a policy sees before a step of all rollouts. Rollout i is member `i % groupSize` of group `floor(i / groupSize)`. */
export interface RolloutView extends PolicyView {
  /** The number of groups. */
  readonly groups: number;
  /** The number of rollouts in a group. */
  readonly groupSize: number;
  /** Does the same as `VecEnv.history`. Call it only before the policy returns. */
  history(i: number, last?: number): HistoryStep[];
}

/** A policy, or a function that chooses the actions of all rollouts at once. Either may return a promise. */
export type RolloutPolicy = Policy | PolicyFunction<RolloutView>;

/**
 * Initial states, one per group: some environments of a VecEnv or AsyncVecEnv, which stays unchanged, or all environments of a
 * snapshot.
 */
export type RolloutOrigin = { readonly source: AnyVecEnv; readonly indices: ArrayLike<number> } | Uint8Array;

/** Options of `rolloutGroups`. */
export interface RolloutOptions {
  /** The seed of each group, u32. Pass either `seeds` or `from`. */
  readonly seeds?: ArrayLike<number>;
  /** Initial states instead of seeds: the bytes of `snapshot()`, or `{ source, indices }`. */
  readonly from?: RolloutOrigin;
  /** The number of rollouts per group, at least 1. All groups together have at most 2^24 rollouts. */
  readonly groupSize: number;
  /** 'random', 'heuristic', a Policy, or a function that is called before every step. */
  readonly policy: 'random' | 'heuristic' | RolloutPolicy;
  /**
   * Seeds of the random policy. 'member' (default): the seed of a rollout is its index within its group. One u32: the seed of
   * all rollouts, so that all rollouts of a group take the same actions.
   */
  readonly policySeeds?: 'member' | number;
  /** The discount of returns to go, in [0, 1]. Default 1. */
  readonly gamma?: number;
  /** Profiles, for all groups or per group; only with `seeds`. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** Graders, for all groups or per group; only with `seeds`. Default 'v2'. */
  readonly grader?: GraderChoice;
  /** A world with other numbers. Not with `from.source`, which has a world. Default: the published world. */
  readonly world?: WorldSpec;
  /**
   * A backend of `createAsyncVecEnv`. The default 'auto' chooses as in `createVecEnv`. Not with `from.source`, which has a
   * backend.
   */
  readonly backend?: BackendName;
  /** As in `createVecEnv`. */
  readonly kernel?: KernelName;
  /** 1 to 256; changes no result. Default: the number of processors, at most 256. */
  readonly threads?: number;
  /** Called after every step with the steps taken and their total, over all rollouts. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * When it is aborted, the promise rejects with the signal's reason: at once while a Policy or function runs, otherwise
   * after the engine's work in progress.
   */
  readonly signal?: AbortSignal;
}

/** The names of the options, for their validation. */
export const OPTIONS: readonly (keyof RolloutOptions)[] = [
  'seeds',
  'from',
  'groupSize',
  'policy',
  'policySeeds',
  'gamma',
  'profiles',
  'grader',
  'world',
  'backend',
  'kernel',
  'threads',
  'onProgress',
  'signal',
];
