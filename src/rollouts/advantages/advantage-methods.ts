/** Advantage methods: each scales the difference between a reward and its group's mean in its own way. */
import { InputError } from '../../shared/errors.js';
import { checkFinite, checkName } from '../../shared/values.js';
import { type Grouped, type Statistics, statisticsOf, stdOf } from './group-statistics.js';

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
export interface ComputedAdvantages {
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
    throw new InputError(
      'out_of_range',
      `Expected epsilon to be more than 0, got ${epsilon}. Leave it out for ${EPSILON}, or use method 'dr-grpo'.`,
    );
  }
  return { method: checkName('method', method, ADVANTAGE_METHODS), epsilon };
}
