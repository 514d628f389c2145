/** Advantage methods by name: the divisor of a reward's distance from its group's mean. */
import { InputError } from '../../shared/errors.js';
import { checkFinite, checkName } from '../../shared/values.js';
import { type Grouped, type Statistics, statisticsOf, stdOf } from './group-statistics.js';

/** Advantage methods. Each subtracts the group's mean from a reward; they differ in the divisor. */
export type AdvantageMethod = 'grpo' | 'dr-grpo' | 'batch-normalised' | 'leave-one-out';

/** What a divisor may depend on. */
interface Spread {
  readonly count: number;
  readonly std: number;
  /** Of the numbers of all groups together. */
  readonly batchStd: number;
  readonly epsilon: number;
}

const METHODS: Readonly<Record<AdvantageMethod, (distance: number, spread: Spread) => number>> = {
  // DeepSeekMath (Shao et al. 2024), with the epsilon of TRL.
  grpo: (distance, { std, epsilon }) => distance / (std + epsilon),
  // Liu et al. 2025: dividing by the standard deviation favours questions that are too easy or too hard.
  'dr-grpo': (distance) => distance,
  // TRL's scale_rewards="batch".
  'batch-normalised': (distance, { batchStd, epsilon }) => distance / (batchStd + epsilon),
  // Kool et al. 2019, RLOO. The distance from the mean of the others is n / (n - 1) times the distance from the group's
  // mean.
  'leave-one-out': (distance, { count }) => (distance * count) / Math.max(count - 1, 1),
};

/** The methods' names, the default first. */
export const ADVANTAGE_METHODS: readonly AdvantageMethod[] = Object.freeze(
  Object.keys(METHODS) as AdvantageMethod[],
);

/** Options of the comparison. */
export interface Comparison {
  /** The advantage method, one of ADVANTAGE_METHODS. Default 'grpo'. */
  method?: AdvantageMethod;
  /** Added to a standard deviation before dividing by it; above 0. Default 1e-4, as in TRL. */
  epsilon?: number;
}

/** The default epsilon, as in TRL. */
const EPSILON = 1e-4;

/** The result of a comparison. */
export interface Compared {
  /** f64: the advantage of each number; 0 for a missing one and in a group of one. */
  readonly advantages: Float64Array;
  readonly statistics: Statistics;
}

/** Computes each number's advantage over the others of its group. */
export function compare(grouped: Grouped, { method, epsilon }: Required<Comparison>): Compared {
  const { values, groupOf } = grouped;
  const statistics = statisticsOf(grouped);
  const { counts, means, stds } = statistics;
  const batchStd = method === 'batch-normalised' ? stdOf(values) : 0;
  const apply = METHODS[method];
  const advantages = values.map((value, i) => {
    const g = groupOf[i];
    if (Number.isNaN(value)) return 0;
    return apply(value - means[g], { count: counts[g], std: stds[g], batchStd, epsilon });
  });
  return { advantages, statistics };
}

/** @throws InputError `unknown_name`, `wrong_type` or `out_of_range`. */
export function toComparison({
  method = ADVANTAGE_METHODS[0],
  epsilon = EPSILON,
}: Comparison): Required<Comparison> {
  if (checkFinite('epsilon', epsilon) <= 0) {
    throw new InputError(
      'out_of_range',
      `Expected epsilon to be more than 0, got ${epsilon}. Leave it out for ${EPSILON}, or use method 'dr-grpo'.`,
    );
  }
  return { method: checkName('method', method, ADVANTAGE_METHODS), epsilon };
}
