/** Group-relative advantages as in GRPO and related methods: a pure function of rewards. */
import { checkInteger, readOptions } from '../../shared/values.js';
import { type Rewards, toTotals } from '../rewards/totals.js';
import { type GroupAdvantages, inGroups, MAX_GROUP_SIZE, rounded } from './in-groups.js';
import { type Comparison, compare, toComparison } from './methods.js';

/** Options of `groupAdvantages`. */
export interface AdvantageOptions extends Comparison {
  /** One weight per reward function. Default 1 each. */
  weights?: readonly number[];
}

export const OPTIONS: readonly (keyof AdvantageOptions)[] = ['method', 'weights', 'epsilon'];

/**
 * Computes the advantage of each completion over the others of its group.
 *
 * It follows TRL's GRPOTrainer and RLOOTrainer (1.13): the rewards of several functions are weighted and summed, a
 * missing reward is left out of its sum, and a completion without any reward is left out of its group. It differs from
 * TRL's metric in `zeroSpread`, which counts groups under every method and includes those with fewer than two rewarded
 * completions.
 * @param rewards [n], group after group; or one such array per reward function. null and NaN are missing.
 * @param groupSize completions per group; n is a multiple of it.
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
