/** The methods by name: what a reward's distance from the mean of its group is divided by. */
import { InputError } from '../../errors.js';
import { checkFinite, checkName } from '../../validate/values.js';
import { type Grouped, type Statistics, statisticsOf, stdOf } from './statistics.js';

/** How rewards become advantages. Each takes the group's mean away; they differ in what they divide by. */
export type AdvantageMethod = 'grpo' | 'dr-grpo' | 'batch-normalised' | 'leave-one-out';

/** What an advantage may depend on beside its distance from the mean. */
interface Spread {
  readonly count: number;
  readonly std: number;
  /** Of all groups' numbers together. */
  readonly batchStd: number;
  readonly epsilon: number;
}

const METHODS: Readonly<Record<AdvantageMethod, (distance: number, spread: Spread) => number>> = {
  // DeepSeekMath (Shao et al. 2024), with the epsilon of TRL.
  grpo: (distance, { std, epsilon }) => distance / (std + epsilon),
  // Liu et al. 2025: dividing by the std favours questions that are too easy or too hard.
  'dr-grpo': (distance) => distance,
  // TRL's scale_rewards="batch".
  'batch-normalised': (distance, { batchStd, epsilon }) => distance / (batchStd + epsilon),
  // Kool et al. 2019, RLOO: a reward's distance from the mean of the others is n / (n - 1) of that from the mean of all.
  'leave-one-out': (distance, { count }) => (distance * count) / Math.max(count - 1, 1),
};

/** The methods' names, the default first. */
export const ADVANTAGE_METHODS: readonly AdvantageMethod[] = Object.freeze(
  Object.keys(METHODS) as AdvantageMethod[],
);

/** How numbers are compared. */
export interface Comparison {
  /** One of ADVANTAGE_METHODS: what a reward's distance from its group's mean is divided by. Default 'grpo'. */
  method?: AdvantageMethod;
  /** What is added to a standard deviation before it divides, more than 0. Default 1e-4, as TRL has it. */
  epsilon?: number;
}

/** What TRL adds to a standard deviation before it divides by it. */
const EPSILON = 1e-4;

/** Numbers as compared within their groups. */
export interface Compared {
  /** f64: the advantage of each; 0 for one that is missing, and in a group of one. */
  readonly advantages: Float64Array;
  readonly statistics: Statistics;
}

/** Each number's advantage over the others of its group. */
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
