/** The GRPO reward stack for language models: four rewards of a completion, each on its own, and their weighted sum. */
import { NO_ACTION } from '../validate/actions.js';
import { checkOptions, readOptions } from '../validate/values.js';
import { NUM_STEPS } from '../world/fields.js';
import { historiesOf, type RewardRows, type RowReader, readerOf } from './rewards/rows.js';
import { type RewardShaping, shaped, toShaping } from './rewards/shaping.js';
import { checkWeight } from './rewards/totals.js';

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

const OPTIONS: readonly (keyof RewardStackOptions)[] = ['weights', 'shaping'];

/**
 * The rewards of completions that were parsed and replayed.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `illegal_action` or `unknown_option`; of an entry, its
 *   index is in the message.
 */
export function rewardStack(rows: RewardRows, options: RewardStackOptions = {}): RewardStack {
  const { weights, shaping } = readOptions('options of rewardStack', options, OPTIONS);
  const factors = toFactors(weights);
  const terms = toShaping(shaping);
  const reader = readerOf(rows);
  const histories = terms.repetition || terms.exploration ? historiesOf(rows, reader.length) : null;
  const envReward = (row: number, action: number): number => {
    const reward = Math.fround(reader.stepReward(row));
    if (histories === null) return reward;
    const from = row * NUM_STEPS;
    return shaped(reward, action, histories.codes, from, from + histories.steps(row), terms);
  };
  const rewards = unweighted(reader, envReward);
  return { ...rewards, total: totalOf(rewards, factors) };
}

function toFactors(weights: RewardStackOptions['weights'] = {}): number[] {
  checkOptions('weights', weights, REWARD_NAMES);
  return REWARD_NAMES.map((name) => {
    const { [name]: weight = 1 } = weights;
    return checkWeight(`weights.${name}`, weight);
  });
}

function unweighted(
  { length, action, given, beliefMae }: RowReader,
  envReward: (row: number, action: number) => number,
): Omit<RewardStack, 'total'> {
  const formatValid = new Float32Array(length);
  const actionLegal = new Float32Array(length);
  const env = new Float32Array(length);
  const beliefAccuracy = new Float32Array(length);
  for (let row = 0; row < length; row++) {
    const code = action(row);
    const acts = code !== NO_ACTION;
    const believes = given(row);
    formatValid[row] = acts && believes ? STACK.formatValid.yes : STACK.formatValid.no;
    actionLegal[row] = acts ? STACK.actionLegal.yes : STACK.actionLegal.no;
    env[row] = acts ? envReward(row, code) : STACK.envReward.noAction;
    beliefAccuracy[row] = believes
      ? STACK.beliefAccuracy.best - beliefMae(row)
      : STACK.beliefAccuracy.noBelief;
  }
  return { formatValid, actionLegal, envReward: env, beliefAccuracy };
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
