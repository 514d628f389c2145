/** Group-relative advantages, as GRPO and its relatives have them: a pure function of rewards. */
import { InputError } from '../errors.js';
import { checkInteger, readOptions } from '../validate/values.js';
import {
  type Compared,
  type Comparison,
  compare,
  type Grouped,
  toComparison,
  zeroSpreadOf,
} from './advantages-methods.js';
import { type Rewards, toTotals } from './advantages-rewards.js';

export interface AdvantageOptions extends Comparison {
  /** One for each reward function. Default 1 each. */
  weights?: readonly number[];
}

/** New arrays, of float32s: computed in float64, rounded once. */
export interface GroupAdvantages {
  /** f32 [n]: finite; 0 for a completion of which every reward is missing, and for one that is alone in its group. */
  readonly advantages: Float32Array;
  /** f32 [groups]: of the weighted rewards that are not missing; NaN where all are. */
  readonly means: Float32Array;
  /** f32 [groups]: their unbiased standard deviation; 0 where fewer than two are there. */
  readonly stds: Float32Array;
  /** The share of groups whose standard deviation is 0 (at most 1e-8), in [0, 1]; 0 where there is no group. */
  readonly zeroSpread: number;
}

export const OPTIONS: readonly (keyof AdvantageOptions)[] = ['method', 'weights', 'epsilon'];

export const MAX_GROUP_SIZE = 2 ** 24;

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

/** Numbers in groups one after the other. @throws InputError `wrong_length`. */
export function inGroups(values: Float64Array, groupSize: number): Grouped {
  if (values.length % groupSize !== 0) {
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${groupSize} rewards (groupSize), got ${values.length}. Pass whole groups.`,
    );
  }
  const groupOf = new Uint32Array(values.length).map((_, i) => Math.floor(i / groupSize));
  return { values, groupOf, groups: values.length / groupSize };
}

export const rounded = ({ advantages, statistics }: Compared): GroupAdvantages => ({
  advantages: new Float32Array(advantages),
  means: new Float32Array(statistics.means),
  stds: new Float32Array(statistics.stds),
  zeroSpread: zeroSpreadOf(statistics),
});
