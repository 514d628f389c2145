/** The interface of policies, for built-in policies and policies of users. */

import type { World } from '../../world/world.js';
import type { Grader } from '../graders/grader.js';
import type { Actions } from '../validate/steps.js';
import type { VecEnvOptions } from '../vec-env/vec-env-options.js';

/** What a policy sees before a step of n environments. The arrays are valid until the policy returns. */
export interface PolicyView {
  /** f32 [n, 22], row-major, fields as in OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** u8 [n]: the steps that each episode has taken, 0 to 28. */
  readonly steps: Uint8Array;
  /** u8 [n]: 1 while the episode runs, 0 after its end. */
  readonly playing: Uint8Array;
}

/** What a policy returns. Entries of episodes that are over are ignored. */
export interface PolicyActions {
  /** `[n]`: action codes, 0 to 9. */
  readonly actions: Actions;
  /** [n, 3], row-major: social, morning and work, in [0, 1]. A row of three NaN is no belief. Default: no beliefs. */
  readonly beliefs?: ArrayLike<number> | null;
  /** `[n]`: the log-probability of each action; NaN if unknown. Only `rolloutGroups` reads it. Default: all unknown. */
  readonly logProbs?: ArrayLike<number> | null;
}

/** A policy without memory: a function that is called before every step, for all environments at once. */
export type PolicyFunction<View extends PolicyView = PolicyView> = (
  view: View,
) => PolicyActions | Promise<PolicyActions>;

/** Episodes that begin. */
export interface EpisodeStarts {
  /** u8 [n]: 1 in environments whose episode begins. */
  readonly mask: Uint8Array;
  /**
   * u32 [n]: a seed for the random draws of the policy, so that its results can be reproduced. It is derived from the
   * seed of the episode; in `rolloutGroups` from the member's index in its group. A policy with `usesHiddenState` gets the
   * seed of the episode, or the index, unchanged. Other policies do not, because the seed of an episode determines its
   * profile, noise and events.
   */
  readonly seeds: Uint32Array;
  /**
   * Returns the hidden profiles, f32 [n, 16], newly allocated. @throws InputError `unknown_option` in `rolloutGroups`, and
   * unless the policy sets `usesHiddenState`.
   */
  profiles(): Float32Array;
}

/**
 * The environments that a policy is opened for. `backend` is the backend of the episodes: a name, or undefined for 'auto'.
 * A policy that itself opens environments on this backend needs `createAsyncVecEnv` for 'webgpu'.
 */
export interface PolicySetting extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'> {
  /** The number of environments. */
  readonly numEnvs: number;
  /** The grader of all episodes; null in `rolloutGroups` with one grader per group, or with `from`. */
  readonly grader: Grader | null;
  /** The world of the episodes. */
  readonly world: World;
}

/** A policy opened for a number of environments. It keeps a state for each of them, if it needs one. */
export interface PolicyPlayer {
  /**
   * Clears the state of environments whose episode begins. Called before the first step of each episode. A player without
   * `reset` plays one batch of episodes: the policy is opened again for the next one.
   */
  reset?(episodes: EpisodeStarts): void | Promise<void>;
  /** Chooses the next action of every environment. */
  act: PolicyFunction;
  /** Returns the reasons for the last action in environment i, or a promise of them. Trajectories store them. */
  reasons?(i: number): string | Promise<string>;
  /** Frees the player's resources. */
  [Symbol.dispose]?(): void;
}

/** A policy with memory. Pass it to `evaluate` under a name, or to `rolloutGroups`. */
export interface Policy {
  /** Opens the policy for a number of environments. The player acts in all of them with one call per step. */
  open(setting: PolicySetting): PolicyPlayer | Promise<PolicyPlayer>;
  /** Whether the policy uses the hidden state. Then it is not a valid agent, and results mark it as an oracle. */
  readonly usesHiddenState?: boolean;
}

/** A policy with or without memory. */
export type PolicyLike = Policy | PolicyFunction;

/** Returns whether a value is a policy: a function, or an object with the function `open`. */
export const isPolicy = (value: unknown): value is PolicyLike =>
  typeof value === 'function' || typeof (value as Policy | null)?.open === 'function';

/** Returns a policy as an object with `open`. Wraps a function. */
export const toPolicy = (policy: PolicyLike): Policy =>
  typeof policy === 'function' ? { open: () => ({ act: policy, reset: () => {} }) } : policy;
