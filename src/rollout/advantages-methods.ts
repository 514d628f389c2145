/** What an advantage is made of: the mean and spread of the group that it is taken in, and the methods by name. */
import { InputError } from '../errors.js';
import { checkFinite, checkName } from '../validate/values.js';

/** How rewards become advantages. Each takes the group's mean away; they differ in what they divide by. */
export type AdvantageMethod = 'grpo' | 'dr-grpo' | 'batch-normalised' | 'leave-one-out';

/** Numbers to compare, NaN where one is missing, and in which group each of them is. */
export interface Grouped {
  readonly values: Float64Array;
  /** [values.length]: from 0 on. */
  readonly groupOf: Uint32Array;
  readonly groups: number;
}

/** Of each group, without the missing numbers. */
export interface Statistics {
  readonly counts: Uint32Array;
  /** NaN where nothing is there to be averaged. */
  readonly means: Float64Array;
  /** Unbiased; 0 for fewer than two numbers. */
  readonly stds: Float64Array;
}

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

/** As torch.isclose, by which TRL finds groups without spread: what is left of rounding is no spread. */
const NO_SPREAD = 1e-8;

function statisticsOf({ values, groupOf, groups }: Grouped): Statistics {
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

/** Around each group's first number: the mean of equal numbers is then that number, and their spread exactly 0. */
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

/** Numbers as compared within their groups. */
export interface Compared {
  /** f64: the advantage of each; 0 for one that is missing, and in a group of one. */
  readonly advantages: Float64Array;
  readonly statistics: Statistics;
}

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

const stdOf = (values: Float64Array): number =>
  statisticsOf({ values, groupOf: new Uint32Array(values.length), groups: 1 }).stds[0];

/** Which share of groups has no spread, and so teaches nothing; 0 where there is no group. */
export function zeroSpreadOf({ stds }: Statistics): number {
  const flat = stds.reduce((count, std) => count + Number(std <= NO_SPREAD), 0);
  return flat / Math.max(stds.length, 1);
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
