/** Means and spreads of numbers, group by group, without those that are missing. */

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

/** As torch.isclose, by which TRL finds groups without spread: what is left of rounding is no spread. */
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

/** Of all numbers together. */
export const stdOf = (values: Float64Array): number =>
  statisticsOf({ values, groupOf: new Uint32Array(values.length), groups: 1 }).stds[0];

/** Which share of groups has no spread, and so teaches nothing; 0 where there is no group. */
export function zeroSpreadOf({ stds }: Statistics): number {
  const flat = stds.reduce((count, std) => count + Number(std <= NO_SPREAD), 0);
  return flat / Math.max(stds.length, 1);
}
