/** Group-relative advantages, as in GRPO and related methods. */

import { InputError } from '../../shared/errors.js';
import { checkFinite, checkInteger, checkName, readOptions } from '../../shared/values.js';
import { type Rewards, toTotals } from '../rewards/weighted-totals.js';

/** The largest number of completions per group, and of steps per rollout. Chosen by hand, as large as MAX_ENVS. */
export const MAX_GROUP_SIZE = 2 ** 24;

/** Numbers in groups; NaN is missing. */
export interface Grouped {
  readonly values: Float64Array;
  /** u32 [values.length]: the index of each number's group. */
  readonly groupOf: Uint32Array;
  /** The number of groups. */
  readonly groups: number;
}

/** Statistics of each group, without its missing numbers. */
export interface Statistics {
  /** How many numbers of each group are not missing. */
  readonly counts: Uint32Array;
  /** NaN for a group without numbers. */
  readonly means: Float64Array;
  /** Standard deviations with the divisor n - 1; 0 for a group of fewer than two numbers. */
  readonly stds: Float64Array;
}

/** A standard deviation of at most this value is a rounding error: TRL's tolerance, from torch.isclose. */
const NO_SPREAD = 1e-8;

/** Assigns numbers to consecutive groups of equal size. @throws InputError `wrong_length`. */
export function groupConsecutive(values: Float64Array, groupSize: number): Grouped {
  if (values.length % groupSize !== 0) {
    throw new InputError('wrong_length', {
      expected: `a multiple of ${groupSize} rewards (groupSize)`,
      got: `${values.length}`,
      remedy: 'Pass whole groups.',
    });
  }
  const groupOf = new Uint32Array(values.length).map((_, i) => Math.floor(i / groupSize));
  return { values, groupOf, groups: values.length / groupSize };
}

/** Computes the statistics of each group. */
export function statisticsOf({ values, groupOf, groups }: Grouped): Statistics {
  const counts = new Uint32Array(groups);
  const means = meansOf({ values, groupOf, groups }, counts);
  const stds = new Float64Array(groups);
  for (let i = 0; i < values.length; i++) {
    const distance = values[i] - means[groupOf[i]];
    if (!Number.isNaN(distance)) stds[groupOf[i]] += distance * distance;
  }
  for (let g = 0; g < groups; g++) stds[g] = counts[g] < 2 ? 0 : Math.sqrt(stds[g] / (counts[g] - 1));
  return { counts, means, stds };
}

/**
 * Computes the means, and counts the numbers of each group in `counts`. Sums differences from each group's first number, so
 * that the mean of equal numbers is exactly that number.
 */
function meansOf({ values, groupOf, groups }: Grouped, counts: Uint32Array): Float64Array {
  const firsts = new Float64Array(groups).fill(Number.NaN);
  const sums = new Float64Array(groups);
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    const g = groupOf[i];
    if (counts[g]++ === 0) firsts[g] = values[i];
    sums[g] += values[i] - firsts[g];
  }
  return firsts.map((first, g) => first + sums[g] / counts[g]);
}

/** Returns the standard deviation of all numbers together. */
export const stdOf = (values: Float64Array): number =>
  statisticsOf({ values, groupOf: new Uint32Array(values.length), groups: 1 }).stds[0];

/** Returns the share of groups without two different numbers, which give no training signal; 0 without groups. */
export function zeroSpreadOf({ stds }: Statistics): number {
  const flat = stds.reduce((count, std) => count + Number(std <= NO_SPREAD), 0);
  return flat / Math.max(stds.length, 1);
}

/** The name of an advantage method. All subtract the group's mean from a reward; they differ in the scale. */
export type AdvantageMethod = 'grpo' | 'dr-grpo' | 'batch-normalised' | 'leave-one-out';

/** The numbers on which a scale may depend. */
interface Spread {
  /** The number of rewards in the group, without missing ones. */
  readonly count: number;
  /** The standard deviation of the group's rewards. */
  readonly std: number;
  /** The standard deviation of the rewards of all groups together; 0 for methods that do not use it. */
  readonly batchStd: number;
  readonly epsilon: number;
}

const METHODS: Readonly<Record<AdvantageMethod, (difference: number, spread: Spread) => number>> = {
  // DeepSeekMath (Shao et al. 2024), with the epsilon of TRL.
  grpo: (difference, { std, epsilon }) => difference / (std + epsilon),
  // Liu et al. 2025. Dividing by the standard deviation would favour questions that are too easy or too hard.
  'dr-grpo': (difference) => difference,
  // TRL's scale_rewards="batch".
  'batch-normalised': (difference, { batchStd, epsilon }) => difference / (batchStd + epsilon),
  // Kool et al. 2019, RLOO: the difference from the mean of the others, which is n / (n - 1) times that from the group's mean.
  'leave-one-out': (difference, { count }) => (difference * count) / Math.max(count - 1, 1),
};

/** The names of the methods; the first is the default. */
export const ADVANTAGE_METHODS: readonly AdvantageMethod[] = Object.freeze(
  Object.keys(METHODS) as AdvantageMethod[],
);

/** The method and its epsilon. */
export interface MethodOptions {
  /** The advantage method, one of ADVANTAGE_METHODS. Default 'grpo'. */
  method?: AdvantageMethod;
  /** Added to a standard deviation before dividing by it; above 0. Default 1e-4, as in TRL. */
  epsilon?: number;
}

/** The default epsilon, as in TRL. */
const EPSILON = 1e-4;

/** Advantages before they are rounded to float32. */
interface ComputedAdvantages {
  /** f64: the advantage of each number; 0 for a missing number and for a number alone in its group. */
  readonly advantages: Float64Array;
  readonly statistics: Statistics;
}

/** Computes the advantage of each number within its group. */
export function computeAdvantages(
  grouped: Grouped,
  { method, epsilon }: Required<MethodOptions>,
): ComputedAdvantages {
  const { values, groupOf } = grouped;
  const statistics = statisticsOf(grouped);
  const { counts, means, stds } = statistics;
  const batchStd = method === 'batch-normalised' ? stdOf(values) : 0;
  const scale = METHODS[method];
  const advantages = values.map((value, i) => {
    const g = groupOf[i];
    if (Number.isNaN(value)) return 0;
    return scale(value - means[g], { count: counts[g], std: stds[g], batchStd, epsilon });
  });
  return { advantages, statistics };
}

/** Validates the method and epsilon. @throws InputError `unknown_name`, `wrong_type` or `out_of_range`. */
export function toMethodOptions({
  method = ADVANTAGE_METHODS[0],
  epsilon = EPSILON,
}: MethodOptions): Required<MethodOptions> {
  if (checkFinite('epsilon', epsilon) <= 0) {
    throw new InputError('out_of_range', {
      expected: 'epsilon to be more than 0',
      got: `${epsilon}`,
      remedy: `Leave it out for ${EPSILON}, or use method 'dr-grpo'.`,
    });
  }
  return { method: checkName('method', method, ADVANTAGE_METHODS), epsilon };
}

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
