/** Group-relative advantages, as in GRPO and related methods. */
import { checkInteger, readOptions } from '../../shared/values.js';
import { type Rewards, toTotals } from '../rewards/weighted-totals.js';
import {
  type ComputedAdvantages,
  computeAdvantages,
  type MethodOptions,
  toMethodOptions,
} from './advantage-methods.js';
import { groupConsecutive, MAX_GROUP_SIZE, zeroSpreadOf } from './group-statistics.js';

/** Options of `groupAdvantages`. */
export interface AdvantageOptions extends MethodOptions {
  /** One weight per reward function. Default 1 each. */
  weights?: readonly number[];
}

const OPTIONS: readonly (keyof AdvantageOptions)[] = ['method', 'weights', 'epsilon'];

/** Advantages, and statistics of the groups. The arrays are new, computed in float64 and rounded to float32 once. */
export interface GroupAdvantages {
  /** f32 [n], finite. 0 for a completion without any reward, and for a completion alone in its group. */
  readonly advantages: Float32Array;
  /** f32 [groups]: means of the weighted sums of rewards, without missing ones; NaN if all are missing. */
  readonly means: Float32Array;
  /** f32 [groups]: sample standard deviations of these sums (divisor: their number minus 1); 0 for fewer than two. */
  readonly stds: Float32Array;
  /** The share of groups whose standard deviation is at most 1e-8, in [0, 1]; 0 without groups. */
  readonly zeroSpread: number;
}

/**
 * Computes the advantage of each completion within its group.
 *
 * The computation follows GRPOTrainer and RLOOTrainer of TRL 1.13: the rewards of several functions are weighted and summed,
 * a missing reward is left out of its sum, and a completion without any reward is left out of its group. TRL's metric
 * `frac_reward_zero_std` can differ from `zeroSpread`. Under batch-normalised TRL uses the standard deviation of the whole
 * batch. If fewer than two completions of a group have a reward, TRL counts the group as one with spread, unless `groupSize`
 * is 1.
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
  const method = toMethodOptions(rest);
  const size = checkInteger('groupSize', groupSize, 1, MAX_GROUP_SIZE);
  return roundAdvantages(computeAdvantages(groupConsecutive(toTotals(rewards, weights), size), method));
}

/** Rounds advantages and their statistics to float32. */
export const roundAdvantages = ({ advantages, statistics }: ComputedAdvantages): GroupAdvantages => ({
  advantages: new Float32Array(advantages),
  means: new Float32Array(statistics.means),
  stds: new Float32Array(statistics.stds),
  zeroSpread: zeroSpreadOf(statistics),
});
