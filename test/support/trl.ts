/** Computes advantages with TRL's trainers, in a Python process. */
import type { AdvantageMethod } from '../../src/rollouts/advantages/advantage-methods.js';
import * as python from './python.js';

/** The arguments of one computation of advantages. */
export interface Case {
  readonly method: AdvantageMethod;
  readonly groupSize: number;
  /** One weight for each reward function. */
  readonly weights: readonly number[];
  /** [functions][completions], null for a missing reward. TRL needs at least two completions for its standard deviation. */
  readonly rewards: readonly (readonly (number | null)[])[];
}

export interface Answer {
  readonly advantages: readonly number[];
  /** TRL's frac_reward_zero_std. */
  readonly zeroStd: number;
}

const SCRIPT = 'trl/advantages.py';

interface Answers {
  readonly version: string;
  readonly answers: readonly Answer[];
}

/**
 * Computes the advantages of each case. @returns the advantages and TRL's version, or the reason why TRL cannot run here.
 * @throws Error, instead of returning the reason, if `RHYTHM_REQUIRE` names trl.
 */
export const tryTrl = (cases: readonly Case[]): python.AnswerOrReason<Answers> =>
  python.tryPython('trl', '1.13 or later', SCRIPT, cases, python.TRL);
