/** Types of `rolloutGroups`: its options, and the input and output of a policy. */
import type { HistoryStep } from '../../engine/observe/past-step.js';
import type { GraderChoice, ProfileChoice } from '../../engine/validate/profiles.js';
import type { Actions } from '../../engine/validate/steps.js';
import type { VecEnv } from '../../engine/vec-env/vec-env.js';
import type { WorldSpec } from '../../world/numbers.js';

/** The input of a policy at a step. Rollout i is member `i % groupSize` of group `floor(i / groupSize)`. */
export interface RolloutView {
  /** The number of groups. */
  readonly groups: number;
  /** The number of rollouts in a group. */
  readonly groupSize: number;
  /** f32 [n, 22], row-major, fields as in OBSERVATION_FIELDS. A view, valid until the policy returns. */
  readonly observations: Float32Array;
  /** u8 [n]: steps that each episode has taken. Newly allocated. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode runs, 0 after its end. Newly allocated. */
  readonly playing: Uint8Array;
  /** As `VecEnv.history`; valid until the policy returns. */
  history(i: number, last?: number): HistoryStep[];
}

/** The output of a policy. Entries of rollouts whose episode is over are ignored. */
export interface RolloutActions {
  /** `[n]`: action codes, 0 to 9. */
  readonly actions: Actions;
  /** [n, 3], row-major: a row of three NaN is no belief, as in `step`. Default: no beliefs. */
  readonly beliefs?: ArrayLike<number>;
  /** `[n]`: the log-probability of each action; NaN if unknown. Default: all unknown. */
  readonly logProbs?: ArrayLike<number>;
}

/** Chooses the actions of all rollouts at once. It may return a promise. */
export type RolloutPolicy = (view: RolloutView) => RolloutActions | Promise<RolloutActions>;

/** Initial states, one per group: some environments of a VecEnv, which stays unchanged, or all of a snapshot. */
export type RolloutOrigin = { readonly source: VecEnv; readonly indices: ArrayLike<number> } | Uint8Array;

/** Options of `rolloutGroups`. */
export interface RolloutOptions {
  /** u32, one per group. Pass either these or `from`. */
  readonly seeds?: ArrayLike<number>;
  /** Initial states instead of seeds: the bytes of `snapshot()`, or `{ source, indices }`. */
  readonly from?: RolloutOrigin;
  /** Rollouts per group, at least 1. All groups together have at most 2^24. */
  readonly groupSize: number;
  /** 'random', 'heuristic', or a function that is called before every step. */
  readonly policy: 'random' | 'heuristic' | RolloutPolicy;
  /**
   * Seeds of the random policy: 'member' (default) is the index within the group. With one u32, all rollouts of a group
   * take the same actions.
   */
  readonly policySeeds?: 'member' | number;
  /** The discount of returns to go, in [0, 1]. Default 1. */
  readonly gamma?: number;
  /** Profiles, for all groups or per group; only with `seeds`. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** Graders, for all groups or per group; only with `seeds`. Default 'v2'. */
  readonly grader?: GraderChoice;
  /** A world with other numbers. Not with `from.source`, which has its own. Default: the published world. */
  readonly world?: WorldSpec;
  /** As in `createVecEnv`. Not with `from.source`, which has its own. */
  readonly backend?: string;
  /** As in `createVecEnv`. */
  readonly kernel?: string;
  /** 1 to 256; changes no result. Default: as many as the machine has. */
  readonly threads?: number;
  /** Called after every step with the steps taken and their total, over all rollouts. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise at once with its reason, even while the policy is still running. */
  readonly signal?: AbortSignal;
}

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
