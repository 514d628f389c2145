/** Group-relative advantages, as GRPO and its relatives have them: a pure function of rewards. */
import { checkInteger, readOptions } from '../validate/values.js';
import { type GroupAdvantages, inGroups, MAX_GROUP_SIZE, rounded } from './advantages/in-groups.js';
import { type Comparison, compare, toComparison } from './advantages/methods.js';
import { type Rewards, toTotals } from './rewards/totals.js';

export interface AdvantageOptions extends Comparison {
  /** One for each reward function. Default 1 each. */
  weights?: readonly number[];
}

export const OPTIONS: readonly (keyof AdvantageOptions)[] = ['method', 'weights', 'epsilon'];

/**
 * The advantage of each completion over the others of its group.
 *
 * Follows TRL's GRPOTrainer and RLOOTrainer (1.13): rewards of several functions are weighted and summed, a missing one is
 * left out of its sum, and a completion without any is left out of its group. Unlike TRL's metric, `zeroSpread` is of
 * groups under every method, and counts those in which fewer than two completions have a reward.
 * @param rewards [n], groups one after the other; or such an array for each reward function. null and NaN are missing.
 * @param groupSize how many completions each group has; n is a multiple of it.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_name` (a method) or `unknown_option`.
 */
export function groupAdvantages(
  rewards: Rewards,
  groupSize: number,
  options: AdvantageOptions = {},
): GroupAdvantages {
  const { weights, ...rest } = readOptions('options of groupAdvantages', options, OPTIONS);
  const comparison = toComparison(rest);
  const size = checkInteger('groupSize', groupSize, 1, MAX_GROUP_SIZE);
  return rounded(compare(inGroups(toTotals(rewards, weights), size), comparison));
}
