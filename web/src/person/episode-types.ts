/** Types of an episode: its setting, its moves and its result. */
import { NUM_STEPS, PROFILE_NAMES } from '../../../src/world/fields.js';

/** The setting of an episode. The same setting and moves give the same episode. */
export interface EpisodeSetting {
  /** u32. */
  readonly seed: number;
  /** One of PROFILE_CHOICES. */
  readonly profile: string;
  /** One of GRADER_NAMES. */
  readonly grader: string;
}

/** A move: an action and a belief. */
export interface Move {
  /** A code of ACTION_NAMES. */
  readonly action: number;
  /** Three numbers in [0, 1], by BELIEF_NAMES; null for no belief. */
  readonly belief: readonly number[] | null;
}

/** Choices of a profile: sampled from the seed, one of the named profiles (chosen by the seed), or a certain named profile. */
export const PROFILE_CHOICES: readonly string[] = ['sampled', 'discrete', ...PROFILE_NAMES];

/** Returns whether the user named the profile, so that it is not hidden. */
export const isNamed = ({ profile }: Pick<EpisodeSetting, 'profile'>): boolean =>
  PROFILE_NAMES.includes(profile);

/** The replay of an episode, which the worker sends. */
export interface EpisodeReplay {
  /** f32 [moves + 1, 22], row-major: the observations after reset and after each move, by OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** f32 [moves + 1, 10, 5], row-major: the effect of each action on an average person, at each of these steps. */
  readonly typical: Float32Array;
  /** Null before the 28th step. */
  readonly result: EpisodeResult | null;
}

/** The data revealed after the last step: the profile and the grade. */
export interface EpisodeResult {
  /** f32 [16]: traits, then reward weights. */
  readonly profile: Float32Array;
  /** f32 [3]: the belief target. */
  readonly target: Float32Array;
  /** f32 [3]: the last stated belief; 0.5 each if none was stated. */
  readonly belief: Float32Array;
  /** Whether a belief was stated. */
  readonly given: boolean;
  /** The mean absolute error of `belief`. */
  readonly beliefMae: number;
  /** f32 [NUM_COMPONENTS] each: the grade's components and the grader's weights, by COMPONENT_FIELDS. */
  readonly components: Float32Array;
  readonly weights: Float32Array;
  readonly finalScore: number;
  /** Mean reward of each half, without noise. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  /** The mean of the meters after each step, weighted by the person's reward weights. In [0, 1]. */
  readonly lived: number;
  /** f32 [28]: the reward of each step, without noise. */
  readonly rewards: Float32Array;
}

/** The episode of a policy in the visitor's episode. */
export interface Rival {
  readonly name: string;
  /** [28]: the belief stated with each action; null for none. */
  readonly beliefs: readonly (readonly number[] | null)[];
  readonly given: boolean;
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly lived: number;
  /** f32 [NUM_COMPONENTS]. */
  readonly components: Float32Array;
}

/** The next move of a policy, with its reasons, if any. */
export interface Advice extends Move {
  readonly reasons: string | null;
}

/** Returns whether the episode is over. */
export const isOver = (moves: readonly Move[]): boolean => moves.length === NUM_STEPS;
