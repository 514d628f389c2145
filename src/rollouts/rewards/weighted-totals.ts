/** Sums the weighted rewards that several reward functions give each completion. Rewards may be missing. */
import { InputError } from '../../shared/errors.js';
import {
  checkFinite,
  checkInteger,
  checkLength,
  describe,
  isList,
  kindOf,
  wrongType,
} from '../../shared/values.js';
import { MAX_ENVS, MAX_MAGNITUDE, MAX_SUM, NUM_STEPS } from '../../world/fields.js';

/** The rewards of one reward function, `[n]`; null and NaN are missing. */
export type RewardList = Float32Array | Float64Array | readonly (number | null)[];

/** The rewards of one function, or of several. */
export type Rewards = RewardList | readonly RewardList[];

/** The largest magnitude of a reward, 2^64. Rewards of episodes are smaller, and sums of squares do not overflow. */
const MAX_REWARD = MAX_SUM;
/** The largest number of rewards: one per step in every environment of the largest batch. */
const MAX_REWARDS = MAX_ENVS * NUM_STEPS;

/**
 * Returns f64 [n]: each completion's weighted sum of the rewards that are not missing; NaN if all are missing.
 * @param weights one per reward function; 1 each by default.
 * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` (an infinite or huge reward or weight, or too many
 *   rewards).
 */
export function toTotals(rewards: Rewards, weights?: readonly number[]): Float64Array {
  const functions = toFunctions(rewards);
  const factors = toWeights(functions.length, weights);
  const n = checkInteger('the number of rewards', functions[0].list.length, 0, MAX_REWARDS);
  const totals = new Float64Array(n).fill(Number.NaN);
  for (const [k, { where, list }] of functions.entries()) {
    checkLength(
      `rewards in ${where}`,
      list.length,
      totals.length,
      'as many as those of the first reward function',
    );
    addWeighted(totals, where, list, factors[k]);
  }
  return totals;
}

interface RewardFunction {
  readonly where: string;
  readonly list: ArrayLike<number | null>;
}

function toFunctions(rewards: Rewards): RewardFunction[] {
  if (!isList(rewards)) throw notRewards('rewards', rewards);
  // A typed array, or a list that does not begin with a list, has the rewards of one function.
  if (kindOf(rewards) !== undefined || !Array.isArray(rewards) || !isList(rewards[0])) {
    return [{ where: 'rewards', list: rewards }];
  }
  return Array.from(rewards, (list, k) => {
    if (!isList(list)) throw notRewards(`rewards[${k}]`, list);
    return { where: `rewards[${k}]`, list };
  });
}

const notRewards = (where: string, value: unknown): InputError =>
  wrongType(
    where,
    'an array of rewards',
    value,
    'Pass a number for each completion, or one such array for each reward function.',
  );

function toWeights(count: number, weights: readonly number[] = Array(count).fill(1)): readonly number[] {
  if (!isList(weights)) {
    throw wrongType('weights', 'an array', weights, 'Pass a weight for each reward function.');
  }
  checkLength('weights', weights.length, count, 'one for each reward function');
  return Array.from(weights, (weight, k) => checkWeight(`weights[${k}]`, weight));
}

/** Validates a weight. @throws InputError `wrong_type` or `out_of_range`. */
export function checkWeight(where: string, weight: unknown): number {
  const factor = checkFinite(where, weight);
  if (Math.abs(factor) <= MAX_MAGNITUDE) return factor;
  throw new InputError('out_of_range', {
    expected: `${where} from -${MAX_MAGNITUDE} to ${MAX_MAGNITUDE}`,
    got: `${factor}`,
    remedy: 'Pass a smaller weight.',
  });
}

function addWeighted(
  totals: Float64Array,
  where: string,
  list: ArrayLike<number | null>,
  weight: number,
): void {
  for (let i = 0; i < totals.length; i++) {
    const reward = list[i];
    if (reward === null || Number.isNaN(reward)) continue;
    if (typeof reward !== 'number' || !(Math.abs(reward) <= MAX_REWARD))
      refuseReward(`${where}[${i}]`, reward);
    totals[i] = Number.isNaN(totals[i]) ? weight * reward : totals[i] + weight * reward;
  }
}

function refuseReward(where: string, value: unknown): never {
  throw new InputError(typeof value === 'number' ? 'out_of_range' : 'wrong_type', {
    expected: `a number from -2^64 to 2^64 at ${where}`,
    got: describe(value),
    remedy: 'Pass null or NaN for a missing reward.',
  });
}
