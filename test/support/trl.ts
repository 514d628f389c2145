/** TRL itself, in a Python process: the advantages that its trainers compute of given rewards. */
import type { AdvantageMethod } from '../../src/rollout/advantages/methods.js';
import * as python from './python.js';

export interface Case {
  readonly method: AdvantageMethod;
  readonly groupSize: number;
  /** One for each reward function. */
  readonly weights: readonly number[];
  /** [functions][completions]: null where one is missing. At least two completions: TRL logs their spread. */
  readonly rewards: readonly (readonly (number | null)[])[];
}

export interface Answer {
  readonly advantages: readonly number[];
  /** TRL's frac_reward_zero_std. */
  readonly zeroStd: number;
}

const SCRIPT = 'trl/advantages.py';

/** Why TRL cannot be asked here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null => python.whyAbsent('trl', '1.13 or later', SCRIPT, []);

/** What TRL, and which, answers to each case. */
export const askTrl = (cases: readonly Case[]): { version: string; answers: readonly Answer[] } =>
  python.askPython(SCRIPT, cases);
