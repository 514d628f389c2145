/** Step-level advantages by anchor state, as in GiGPO (Feng et al. 2025, arXiv:2505.10978). */
import { readOptions } from '../../shared/values.js';
import { checkWeight, type RewardList } from '../rewards/totals.js';
import { type Grouped, zeroSpreadOf } from './group-statistics.js';
import { type GroupAdvantages, inGroups, rounded } from './in-groups.js';
import { type Comparison, compare, toComparison } from './methods.js';
import { putReturns, toDiscount } from './returns.js';
import { isTaken, type StepRollouts, type Taken, toTaken, toWholes } from './rollout-arguments.js';

/** Options of `stepAdvantages`. */
export interface StepAdvantageOptions extends Comparison {
  /** The factor by which a reward one step later counts, in [0, 1]. Default 1. */
  discount?: number;
  /** The weight of the step's advantage beside the episode's. Default 1. */
  stepWeight?: number;
  /**
   * `[groups, groupSize]`: the numbers that compare whole rollouts, such as final scores. Default: sums of step rewards.
   */
  episodeRewards?: RewardList;
}

/** New arrays, computed in float64 and rounded once. 0 for steps that were not taken. */
export interface StepAdvantages {
  /** f32 [groups, groupSize, steps]: the episode's advantage plus `stepWeight` times the step's. */
  readonly advantages: Float32Array;
  /** The comparison of whole rollouts within their groups. */
  readonly episodes: GroupAdvantages;
  /**
   * f32 [groups, groupSize, steps]: the advantage of each step's return to go over the group's other steps from the
   * same state.
   */
  readonly stepAdvantages: Float32Array;
  /** f32 [groups, groupSize, steps]: the discounted sum of this step's reward and all later ones. */
  readonly returnsToGo: Float32Array;
  /** u32 [groups, groupSize, steps]: the number of steps that the group took from this state, including this one. */
  readonly anchorSizes: Uint32Array;
  /** The share of anchor states without spread, including those with a single step, in [0, 1]; 0 without any step. */
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
 * Computes advantages of single steps. They compare each rollout with its group, and each step with the group's other
 * steps from the identical state.
 *
 * It differs from the authors' code in two points: a rollout alone in its group has an advantage of 0, and epsilon is
 * 1e-4 by default.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` (also for a missing step reward), `unknown_name` or
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

type StepAdvantageArrays = Omit<StepAdvantages, 'episodes' | 'zeroSpread'>;

function shownWhereTaken(
  taken: Taken,
  show: (i: number, arrays: StepAdvantageArrays) => void,
): StepAdvantageArrays {
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

/** f64 [rollouts]: the sum of each rollout's rewards; NaN for a rollout without steps. */
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

/** Groups the steps to compare: steps of one group of rollouts with equal state hashes. */
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
