/** `rewardStack`, which validates rows and options. `compute-rewards.ts` computes the rewards. */
import { readOptions } from '../../shared/values.js';
import {
  type RewardStack,
  type RewardStackOptions,
  stackRewards,
  toStackSettings,
} from './compute-rewards.js';
import { checkRewardRows, historiesOf, type RewardRows } from './reward-rows.js';

const OPTIONS: readonly (keyof RewardStackOptions)[] = ['weights', 'shaping'];

/**
 * Computes the rewards of completions that were parsed and replayed.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `illegal_action` or `unknown_option`. The message
 *   names the index of an invalid entry.
 */
export function rewardStack(rows: RewardRows, options: RewardStackOptions = {}): RewardStack {
  const settings = toStackSettings(readOptions('options of rewardStack', options, OPTIONS), null);
  const checked = checkRewardRows(rows);
  const histories = settings.shaping === null ? null : historiesOf(rows, checked.actions.length);
  return stackRewards(checked, histories, settings);
}
