/** Groups numbers, and computes the mean and standard deviation of each group. NaN is a missing number. */
import { InputError } from '../../shared/errors.js';

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
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${groupSize} rewards (groupSize), got ${values.length}. Pass whole groups.`,
    );
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
