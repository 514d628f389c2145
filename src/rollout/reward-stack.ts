/** The GRPO reward stack for language models: four rewards of a completion, each on its own, and their weighted sum. */
import { readOptions } from '../validate/values.js';
import { checkRewardRows, historiesOf, type RewardRows } from './rewards/rows.js';
import { type RewardStack, type RewardStackOptions, stackRewards, toTerms } from './rewards/stack.js';

const OPTIONS: readonly (keyof RewardStackOptions)[] = ['weights', 'shaping'];

/**
 * The rewards of completions that were parsed and replayed.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `illegal_action` or `unknown_option`; of an entry, its
 *   index is in the message.
 */
export function rewardStack(rows: RewardRows, options: RewardStackOptions = {}): RewardStack {
  const terms = toTerms(readOptions('options of rewardStack', options, OPTIONS));
  const checked = checkRewardRows(rows);
  const histories = terms.shaping === null ? null : historiesOf(rows, checked.actions.length);
  return stackRewards(checked, histories, terms);
}
