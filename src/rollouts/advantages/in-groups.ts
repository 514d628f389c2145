/** Splits completions into contiguous groups, and rounds the advantages that are returned. */
import { InputError } from '../../shared/errors.js';
import { type Grouped, zeroSpreadOf } from './group-statistics.js';
import type { Compared } from './methods.js';

/** The largest number of completions per group, and of steps per rollout. */
export const MAX_GROUP_SIZE = 2 ** 24;

/** New float32 arrays, computed in float64 and rounded once. */
export interface GroupAdvantages {
  /** f32 [n], finite. 0 for a completion without any reward, and for a completion alone in its group. */
  readonly advantages: Float32Array;
  /** f32 [groups]: means of the weighted rewards that are not missing; NaN if all are missing. */
  readonly means: Float32Array;
  /** f32 [groups]: unbiased standard deviations of these rewards; 0 for fewer than two. */
  readonly stds: Float32Array;
  /** The share of groups whose standard deviation is at most 1e-8, in [0, 1]; 0 without groups. */
  readonly zeroSpread: number;
}

/** Assigns numbers to contiguous groups of equal size. @throws InputError `wrong_length`. */
export function inGroups(values: Float64Array, groupSize: number): Grouped {
  if (values.length % groupSize !== 0) {
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${groupSize} rewards (groupSize), got ${values.length}. Pass whole groups.`,
    );
  }
  const groupOf = new Uint32Array(values.length).map((_, i) => Math.floor(i / groupSize));
  return { values, groupOf, groups: values.length / groupSize };
}

export const rounded = ({ advantages, statistics }: Compared): GroupAdvantages => ({
  advantages: new Float32Array(advantages),
  means: new Float32Array(statistics.means),
  stds: new Float32Array(statistics.stds),
  zeroSpread: zeroSpreadOf(statistics),
});
