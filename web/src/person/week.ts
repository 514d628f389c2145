/** A week as this page plays it: who it is with, what was done in it, and what came back. */
import { NUM_STEPS, PROFILE_NAMES } from '../../../src/world/fields.js';

/** Whose week it is, and how it is graded. The same setting and moves give the same week. */
export interface WeekSetting {
  /** u32. */
  readonly seed: number;
  /** One of PERSONS. */
  readonly profile: string;
  /** One of GRADER_NAMES. */
  readonly grader: string;
}

/** What is done in a step. */
export interface Move {
  /** A code of ACTION_NAMES. */
  readonly action: number;
  /** Three numbers in [0, 1], by BELIEF_NAMES; null where none is given. */
  readonly belief: readonly number[] | null;
}

/** Drawn from the seed, one of the named by the seed, or named: then nobody is hidden. */
export const PERSONS: readonly string[] = ['sampled', 'discrete', ...PROFILE_NAMES];

export const isNamed = ({ profile }: Pick<WeekSetting, 'profile'>): boolean =>
  PROFILE_NAMES.includes(profile);

/** All that leaves the worker of a week, before its end and after it. */
export interface Lived {
  /** f32 [moves + 1, 22], row-major: what an agent sees after reset and after each move, by OBSERVATION_FIELDS. */
  readonly observations: Float32Array;
  /** Null until the 28th step was taken. */
  readonly ending: Ending | null;
}

/** What is known when a week is over: who the person was, and what the week was worth. */
export interface Ending {
  /** f32 [16]: traits, then reward weights. */
  readonly profile: Float32Array;
  /** f32 [3]: what a perfect belief would have been. */
  readonly target: Float32Array;
  /** f32 [3]: the last belief; 0.5 each if none was given. */
  readonly belief: Float32Array;
  readonly given: boolean;
  readonly beliefMae: number;
  /** f32 [6] each: the grade's components and the grader's weights, by COMPONENT_FIELDS. */
  readonly components: Float32Array;
  readonly weights: Float32Array;
  readonly finalScore: number;
  /** Mean reward of each half, without luck. */
  readonly earlyMean: number;
  readonly lateMean: number;
  /** The same person's week, luck and grader, played by others. */
  readonly others: readonly OtherWeek[];
}

export interface OtherWeek {
  /** A policy's name. */
  readonly name: string;
  readonly finalScore: number;
  readonly beliefMae: number;
  /** f32 [6]. */
  readonly components: Float32Array;
}

/** What a policy would do next, and why in words, where it has any. */
export interface Advice extends Move {
  readonly reasons: string | null;
}

export const isOver = (moves: readonly Move[]): boolean => moves.length === NUM_STEPS;
