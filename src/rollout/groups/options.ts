/** What rollouts in groups are asked for, and what a policy is told and answers. */
import type { HistoryStep } from '../../observe/record.js';
import type { GraderChoice, ProfileChoice } from '../../validate/persons.js';
import type { Actions } from '../../validate/steps.js';
import type { VecEnv } from '../../vec-env/vec-env.js';
import type { WorldSpec } from '../../world/spec.js';

/** What a policy sees of all rollouts before a step: rollout i is member `i % groupSize` of group `i / groupSize`. */
export interface RolloutView {
  readonly groups: number;
  readonly groupSize: number;
  /** f32 [n, 22], row-major, fields as in OBSERVATION_FIELDS. A view, valid until the policy has answered. */
  readonly observations: Float32Array;
  /** u8 [n]: steps that each has taken. Newly allocated. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 where a step is to be taken, 0 where the episode is over. Newly allocated. */
  readonly playing: Uint8Array;
  /** As `VecEnv.history`, until the policy has answered. */
  history(i: number, last?: number): HistoryStep[];
}

/** What a policy answers. Entries of rollouts that no longer play are ignored. */
export interface RolloutActions {
  /** Codes 0..9, [n]. */
  readonly actions: Actions;
  /** [n, 3], flat, as of a step: a whole row of NaN gives none. Default: none. */
  readonly beliefs?: ArrayLike<number>;
  /** [n]: the log-probability of what each does; NaN where it is not known. Default: none is. */
  readonly logProbs?: ArrayLike<number>;
}

/** Chooses for all rollouts at once. A language model may take its time. */
export type RolloutPolicy = (view: RolloutView) => RolloutActions | Promise<RolloutActions>;

/** Slots to begin from, one for each group: a VecEnv's, which stays as it is, or all of a snapshot's. */
export type RolloutOrigin = { readonly source: VecEnv; readonly indices: ArrayLike<number> } | Uint8Array;

export interface RolloutOptions {
  /** u32, one for each group. Either these or `from`. */
  readonly seeds?: ArrayLike<number>;
  /** Where the groups begin instead: bytes of `snapshot()`, or `{ source, indices }`. */
  readonly from?: RolloutOrigin;
  /** Rollouts of each group, at least 1; 2^24 in all. */
  readonly groupSize: number;
  /** 'random', 'heuristic', or a function that is asked before every step. */
  readonly policy: 'random' | 'heuristic' | RolloutPolicy;
  /** Of the random policy: 'member' (default), the index in the group; or one u32, which makes each group's rollouts alike. */
  readonly policySeeds?: 'member' | number;
  /** The discount of returns to go, in [0, 1]. Default 1. */
  readonly gamma?: number;
  /** Who the persons are, for all or by group, where seeds are given. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** How episodes are graded, for all or by group, where seeds are given. Default 'v2'. */
  readonly grader?: GraderChoice;
  /** A world with other numbers: not with a source, which has its own. Default: the published one. */
  readonly world?: WorldSpec;
  /** As of `createVecEnv`: not with a source, which has its own. */
  readonly backend?: string;
  /** As of `createVecEnv`. */
  readonly kernel?: string;
  /** 1 to 256; changes no result. Default: as many as the machine offers. */
  readonly threads?: number;
  /** Called after every step with the steps taken and to be taken, those of all rollouts together. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting it rejects the promise with its reason: at once, whatever the policy is still waiting for. */
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
