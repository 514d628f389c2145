/** The reward stack of rows that were checked: four rewards of each completion, and their weighted sum. */
import { NO_ACTION } from '../../validate/actions.js';
import { checkOptions } from '../../validate/values.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { CheckedRows, Histories } from './rows.js';
import { type RewardShaping, shaped, toShaping } from './shaping.js';
import { checkWeight } from './totals.js';

/** The world page's numbers (The GRPO reward stack), which are the published recipe's: no state depends on them. */
const STACK = Object.freeze({
  formatValid: { yes: 1, no: -2 },
  actionLegal: { yes: 0.5, no: -1 },
  envReward: { noAction: -3 },
  beliefAccuracy: { best: 0.5, noBelief: -0.5 },
});

export type RewardName = keyof typeof STACK;

/** The four rewards, in the order in which they are reported. */
export const REWARD_NAMES: readonly RewardName[] = Object.freeze(Object.keys(STACK) as RewardName[]);

export interface RewardStackOptions {
  /** What each reward counts in `total`, by REWARD_NAMES. Default 1 each. */
  weights?: Partial<Readonly<Record<RewardName, number>>>;
  /** Terms of `envReward`, off by default. */
  shaping?: RewardShaping;
}

/** New arrays, f32 [n]. NaN where what a reward is made of was missing. */
export interface RewardStack extends Readonly<Record<RewardName, Float32Array>> {
  /** 1 where belief and action both parsed, else -2. */
  readonly formatValid: Float32Array;
  /** 0.5 where the action is one of the ten, else -1. */
  readonly actionLegal: Float32Array;
  /** The step's reward, with what shaping adds; -3 where no action parsed. */
  readonly envReward: Float32Array;
  /** 0.5 less the belief's mean absolute error; -0.5 where no belief was given. */
  readonly beliefAccuracy: Float32Array;
  /** The weighted sum of those that are not missing, in float64, rounded once. */
  readonly total: Float32Array;
}

/** Options of the stack, checked. */
export interface StackTerms {
  /** By REWARD_NAMES. */
  readonly factors: readonly number[];
  /** Null for none: histories are not read then. */
  readonly shaping: Required<RewardShaping> | null;
}

/** @throws InputError `wrong_type`, `out_of_range` or `unknown_option`. */
export function toTerms({ weights = {}, shaping }: RewardStackOptions): StackTerms {
  checkOptions('weights', weights, REWARD_NAMES);
  const factors = REWARD_NAMES.map((name) => {
    const { [name]: weight = 1 } = weights;
    return checkWeight(`weights.${name}`, weight);
  });
  const terms = toShaping(shaping);
  return { factors, shaping: terms.repetition || terms.exploration ? terms : null };
}

/** @param histories wanted where there is shaping. */
export function stackRewards(rows: CheckedRows, histories: Histories | null, terms: StackTerms): RewardStack {
  const rewards = unweighted(rows);
  if (terms.shaping !== null && histories !== null) {
    shape(rewards.envReward, rows.actions, histories, terms.shaping);
  }
  return { ...rewards, total: totalOf(rewards, terms.factors) };
}

function unweighted({ actions, given, stepRewards, beliefMae }: CheckedRows): Omit<RewardStack, 'total'> {
  const { length } = actions;
  const formatValid = new Float32Array(length);
  const actionLegal = new Float32Array(length);
  const envReward = new Float32Array(length);
  const beliefAccuracy = new Float32Array(length);
  for (let row = 0; row < length; row++) {
    const acts = actions[row] !== NO_ACTION;
    const believes = given[row] !== 0;
    formatValid[row] = acts && believes ? STACK.formatValid.yes : STACK.formatValid.no;
    actionLegal[row] = acts ? STACK.actionLegal.yes : STACK.actionLegal.no;
    envReward[row] = acts ? stepRewards[row] : STACK.envReward.noAction;
    beliefAccuracy[row] = believes
      ? STACK.beliefAccuracy.best - beliefMae[row]
      : STACK.beliefAccuracy.noBelief;
  }
  return { formatValid, actionLegal, envReward, beliefAccuracy };
}

/** Adds the terms that apply to each action. */
function shape(
  envReward: Float32Array,
  actions: Int8Array,
  { codes, steps }: Histories,
  terms: Required<RewardShaping>,
): void {
  for (let row = 0; row < actions.length; row++) {
    if (actions[row] === NO_ACTION) continue;
    const from = row * NUM_STEPS;
    envReward[row] = shaped(envReward[row], actions[row], codes, from, from + steps(row), terms);
  }
}

/** Sums in float64, each rounded once; a reward that is missing is left out. */
function totalOf(
  { formatValid, actionLegal, envReward, beliefAccuracy }: Omit<RewardStack, 'total'>,
  [valid, legal, env, accuracy]: readonly number[],
): Float32Array {
  const total = new Float32Array(formatValid.length);
  for (let row = 0; row < total.length; row++) {
    let sum = valid * formatValid[row] + legal * actionLegal[row];
    if (!Number.isNaN(envReward[row])) sum += env * envReward[row];
    if (!Number.isNaN(beliefAccuracy[row])) sum += accuracy * beliefAccuracy[row];
    total[row] = sum;
  }
  return total;
}
