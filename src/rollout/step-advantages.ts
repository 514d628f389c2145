/** Step-level advantages by anchor state, as GiGPO has them (Feng et al. 2025, arXiv:2505.10978). */
import { readOptions } from '../validate/values.js';
import { type GroupAdvantages, inGroups, rounded } from './advantages/in-groups.js';
import { type Comparison, compare, toComparison } from './advantages/methods.js';
import { isTaken, type StepRollouts, type Taken, toTaken, toWholes } from './advantages/rollouts.js';
import { type Grouped, zeroSpreadOf } from './advantages/statistics.js';
import { putReturns, toDiscount } from './returns.js';
import { checkWeight, type RewardList } from './rewards/totals.js';

export interface StepAdvantageOptions extends Comparison {
  /** What a reward one step later counts, in [0, 1]. Default 1. */
  discount?: number;
  /** What the step's advantage counts beside the episode's. Default 1. */
  stepWeight?: number;
  /** [groups, groupSize]: what whole rollouts are compared by, as final scores. Default: the sum of their rewards. */
  episodeRewards?: RewardList;
}

/** New arrays, computed in float64, rounded once. 0 for steps that were not taken. */
export interface StepAdvantages {
  /** f32 [groups, groupSize, steps]: the episode's advantage plus `stepWeight` times the step's. */
  readonly advantages: Float32Array;
  /** Of whole rollouts within their group. */
  readonly episodes: GroupAdvantages;
  /** f32 [groups, groupSize, steps]: of each step's return to go, among the steps of its group from the same state. */
  readonly stepAdvantages: Float32Array;
  /** f32 [groups, groupSize, steps]: the discounted sum of rewards from this step on. */
  readonly returnsToGo: Float32Array;
  /** u32 [groups, groupSize, steps]: how many steps of the group were taken from this state, this one included. */
  readonly anchorSizes: Uint32Array;
  /** The share of anchor states without spread, those with a single step included, in [0, 1]; 0 without any step. */
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
 * Advantages of single steps: each rollout over its group, and each step over those that its group took from the
 * identical state.
 *
 * Unlike the authors' code a rollout that is alone in its group has an advantage of 0, and epsilon is 1e-4 by default.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` (a missing step reward among them), `unknown_name` or
 *   `unknown_option`.
 */
export function stepAdvantages(rollouts: StepRollouts, options: StepAdvantageOptions = {}): StepAdvantages {
  const { episodeRewards, ...rest } = readOptions('options of stepAdvantages', options, OPTIONS);
  const { comparison, discount, stepWeight } = toNumbers(rest);
  const taken = toTaken(rollouts);
  const wholes = episodeRewards === undefined ? sumsOf(taken) : toWholes(episodeRewards, taken);
  const episodes = compare(inGroups(wholes, taken.groupSize), comparison);
  const anchors = { values: discountedReturns(taken, discount), ...anchorsOf(taken) };
  const steps = compare(anchors, comparison);
  const shown = shownWhereTaken(taken, (i, arrays) => {
    const episode = episodes.advantages[Math.floor(i / taken.steps)];
    arrays.advantages[i] = episode + stepWeight * steps.advantages[i];
    arrays.stepAdvantages[i] = steps.advantages[i];
    arrays.returnsToGo[i] = anchors.values[i];
    arrays.anchorSizes[i] = steps.statistics.counts[anchors.groupOf[i]];
  });
  return { ...shown, episodes: rounded(episodes), zeroSpread: zeroSpreadOf(steps.statistics) };
}

type Shown = Omit<StepAdvantages, 'episodes' | 'zeroSpread'>;

function shownWhereTaken(taken: Taken, show: (i: number, arrays: Shown) => void): Shown {
  const { length } = taken.rewards;
  const arrays = {
    advantages: new Float32Array(length),
    stepAdvantages: new Float32Array(length),
    returnsToGo: new Float32Array(length),
    anchorSizes: new Uint32Array(length),
  };
  for (let i = 0; i < length; i++) if (isTaken(taken, i)) show(i, arrays);
  return arrays;
}

function toNumbers({ discount, stepWeight = 1, ...rest }: StepAdvantageOptions) {
  return {
    comparison: toComparison(rest),
    discount: toDiscount('discount', discount),
    stepWeight: checkWeight('stepWeight', stepWeight),
  };
}

/** f64 [rollouts]: the sum of each rollout's rewards; NaN for one that took no step. */
const sumsOf = ({ rewards, steps, firsts, ends }: Taken): Float64Array =>
  Float64Array.from(ends, (end, row) => {
    const own = rewards.subarray(row * steps + firsts[row], row * steps + end);
    return own.length === 0 ? Number.NaN : own.reduce((sum, reward) => sum + reward, 0);
  });

/** f64 [rollouts, steps]: NaN where no step was taken. */
function discountedReturns({ rewards, steps, firsts, ends }: Taken, discount: number): Float64Array {
  const returns = new Float64Array(rewards.length).fill(Number.NaN);
  for (const [row, end] of ends.entries()) {
    putReturns(returns, rewards, row * steps + firsts[row], row * steps + end, discount);
  }
  return returns;
}

/** Which steps are compared: those of one group of rollouts whose states' hashes are the same. */
function anchorsOf(taken: Taken): Omit<Grouped, 'values'> {
  const { rewards, hashes, groupSize, steps } = taken;
  const groupOf = new Uint32Array(rewards.length);
  const anchors = new Map<bigint, number>();
  let groups = 0;
  for (let i = 0; i < rewards.length; i++) {
    if (i % (groupSize * steps) === 0) anchors.clear();
    if (!isTaken(taken, i)) continue;
    const known = anchors.get(hashes[i]);
    groupOf[i] = known ?? groups++;
    if (known === undefined) anchors.set(hashes[i], groupOf[i]);
  }
  return { groupOf, groups };
}
