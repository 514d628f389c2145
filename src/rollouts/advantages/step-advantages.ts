/** Step-level advantages by anchor state, as in GiGPO (Feng et al. 2025, arXiv:2505.10978). */

import { InputError } from '../../shared/errors.js';
import { checkFinite, readOptions } from '../../shared/values.js';
import { checkWeight, type RewardList } from '../rewards/weighted-totals.js';
import {
  computeAdvantages,
  type GroupAdvantages,
  type Grouped,
  groupConsecutive,
  type MethodOptions,
  roundAdvantages,
  toMethodOptions,
  zeroSpreadOf,
} from './group-advantages.js';
import {
  isTaken,
  type StepRollouts,
  toEpisodeRewards,
  type ValidRollouts,
  validateRollouts,
} from './rollout-arguments.js';

/**
 * Writes the return to go of steps `from` to `to - 1`: the discounted sum of a step's reward and the later ones up to
 * `to - 1`. Sums are float64.
 * @param returns as long as `rewards`.
 */
export function writeReturns(
  returns: Float32Array | Float64Array,
  rewards: Float32Array | Float64Array,
  from: number,
  to: number,
  discount: number,
): void {
  for (let at = to - 1, sum = 0; at >= from; at--) {
    sum = rewards[at] + discount * sum;
    returns[at] = sum;
  }
}

/** Validates a discount factor; 1 by default. @throws InputError `wrong_type` or `out_of_range`. */
export function toDiscount(what: string, discount = 1): number {
  const factor = checkFinite(what, discount);
  if (factor >= 0 && factor <= 1) return factor;
  throw new InputError('out_of_range', {
    expected: `${what} to be from 0 to 1`,
    got: `${factor}`,
    remedy: 'Pass the factor that weighs a reward one step later.',
  });
}

/** Options of `stepAdvantages`. */
export interface StepAdvantageOptions extends MethodOptions {
  /** The discount factor per step, in [0, 1]. Default 1. */
  discount?: number;
  /** The weight of the step's advantage, which is added to the episode's advantage. Default 1. */
  stepWeight?: number;
  /** `[groups, groupSize]`: the rewards of whole rollouts, such as final scores. Default: the sums of step rewards. */
  episodeRewards?: RewardList;
}

/**
 * Advantages of steps and of whole rollouts. The arrays are new, computed in float64 and rounded to float32 once. Values of
 * steps that were not taken are 0.
 */
export interface StepAdvantages {
  /** f32 [groups, groupSize, steps]: the episode's advantage plus `stepWeight` times the step's. */
  readonly advantages: Float32Array;
  /** The advantages of whole rollouts within their groups. */
  readonly episodes: GroupAdvantages;
  /**
   * f32 [groups, groupSize, steps]: the advantage of each step within its anchor group, which is all steps that the group of
   * rollouts took from the same state. The advantage compares the returns to go of these steps.
   */
  readonly stepAdvantages: Float32Array;
  /** f32 [groups, groupSize, steps]: the discounted sum of this step's reward and all later ones. */
  readonly returnsToGo: Float32Array;
  /** u32 [groups, groupSize, steps]: the number of steps that the group took from this state, including this one. */
  readonly anchorSizes: Uint32Array;
  /**
   * The share of anchor states whose returns to go have a standard deviation of at most 1e-8 (a rounding error), in [0, 1].
   * States with a single step are included. 0 if no step was taken.
   */
  readonly zeroSpread: number;
}

const OPTIONS: readonly (keyof StepAdvantageOptions)[] = [
  'method',
  'epsilon',
  'discount',
  'stepWeight',
  'episodeRewards',
];

/**
 * Computes the advantages of single steps: the advantage of the rollout within its group, plus `stepWeight` times the
 * advantage of the step within its anchor group. An anchor group is all steps that one group of rollouts took from the same
 * state.
 *
 * The function differs from the authors' code in two points: a rollout alone in its group has an advantage of 0, and epsilon is
 * 1e-4 by default.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` (also for a missing step reward), `unknown_name` or
 *   `unknown_option`.
 */
export function stepAdvantages(rollouts: StepRollouts, options: StepAdvantageOptions = {}): StepAdvantages {
  const { episodeRewards, ...rest } = readOptions('options of stepAdvantages', options, OPTIONS);
  const { method, discount, stepWeight } = validateOptions(rest);
  const valid = validateRollouts(rollouts);
  const totals = episodeRewards === undefined ? sumsOf(valid) : toEpisodeRewards(episodeRewards, valid);
  const episodes = computeAdvantages(groupConsecutive(totals, valid.groupSize), method);
  const anchors = { values: discountedReturns(valid, discount), ...anchorsOf(valid) };
  const steps = computeAdvantages(anchors, method);
  const { length } = valid.rewards;
  const arrays = {
    advantages: new Float32Array(length),
    stepAdvantages: new Float32Array(length),
    returnsToGo: new Float32Array(length),
    anchorSizes: new Uint32Array(length),
  };
  for (let i = 0; i < length; i++) {
    if (!isTaken(valid, i)) continue;
    const episodeAdvantage = episodes.advantages[Math.floor(i / valid.steps)];
    arrays.advantages[i] = episodeAdvantage + stepWeight * steps.advantages[i];
    arrays.stepAdvantages[i] = steps.advantages[i];
    arrays.returnsToGo[i] = anchors.values[i];
    arrays.anchorSizes[i] = steps.statistics.counts[anchors.groupOf[i]];
  }
  return { ...arrays, episodes: roundAdvantages(episodes), zeroSpread: zeroSpreadOf(steps.statistics) };
}

/** Validates the options that are numbers or names. */
function validateOptions({ discount, stepWeight = 1, ...rest }: StepAdvantageOptions) {
  return {
    method: toMethodOptions(rest),
    discount: toDiscount('discount', discount),
    stepWeight: checkWeight('stepWeight', stepWeight),
  };
}

/** Returns the sum of each rollout's rewards, f64 [rollouts]; NaN for a rollout without steps. */
const sumsOf = ({ rewards, steps, firsts, ends }: ValidRollouts): Float64Array =>
  Float64Array.from(ends, (end, row) => {
    const own = rewards.subarray(row * steps + firsts[row], row * steps + end);
    return own.length === 0 ? Number.NaN : own.reduce((sum, reward) => sum + reward, 0);
  });

/** Returns the return to go of each step, f64 [rollouts, steps]; NaN where no step was taken. */
function discountedReturns({ rewards, steps, firsts, ends }: ValidRollouts, discount: number): Float64Array {
  const returns = new Float64Array(rewards.length).fill(Number.NaN);
  for (const [row, end] of ends.entries()) {
    writeReturns(returns, rewards, row * steps + firsts[row], row * steps + end, discount);
  }
  return returns;
}

/** Groups the steps that one group of rollouts took from the same state. Equal state hashes mean the same state. */
function anchorsOf(rollouts: ValidRollouts): Omit<Grouped, 'values'> {
  const { rewards, hashes, groupSize, steps } = rollouts;
  const groupOf = new Uint32Array(rewards.length);
  const anchors = new Map<bigint, number>();
  let groups = 0;
  for (let i = 0; i < rewards.length; i++) {
    if (i % (groupSize * steps) === 0) anchors.clear();
    if (!isTaken(rollouts, i)) continue;
    const existing = anchors.get(hashes[i]);
    groupOf[i] = existing ?? groups++;
    if (existing === undefined) anchors.set(hashes[i], groupOf[i]);
  }
  return { groupOf, groups };
}
