/** Means and standard deviations by group. Missing numbers (NaN) are ignored. */

/** Numbers to compare within groups; NaN is missing. */
export interface Grouped {
  readonly values: Float64Array;
  /** [values.length]: the group of each number, from 0 on. */
  readonly groupOf: Uint32Array;
  readonly groups: number;
}

/** Statistics of each group, without its missing numbers. */
export interface Statistics {
  readonly counts: Uint32Array;
  /** NaN for a group without numbers. */
  readonly means: Float64Array;
  /** Unbiased; 0 for a group of fewer than two numbers. */
  readonly stds: Float64Array;
}

/**
 * The tolerance of torch.isclose, with which TRL finds groups without spread. Smaller deviations are rounding errors.
 */
const NO_SPREAD = 1e-8;

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
 * Sums distances from each group's first number. The mean of equal numbers is then exactly that number, and their
 * deviation 0.
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

/** The standard deviation of all numbers together. */
export const stdOf = (values: Float64Array): number =>
  statisticsOf({ values, groupOf: new Uint32Array(values.length), groups: 1 }).stds[0];

/** Returns the share of groups without spread, which give no training signal; 0 if there are no groups. */
export function zeroSpreadOf({ stds }: Statistics): number {
  const flat = stds.reduce((count, std) => count + Number(std <= NO_SPREAD), 0);
  return flat / Math.max(stds.length, 1);
}
