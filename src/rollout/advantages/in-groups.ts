/** Completions in groups one after the other, and their advantages as they are returned. */
import { InputError } from '../../errors.js';
import type { Compared } from './methods.js';
import { type Grouped, zeroSpreadOf } from './statistics.js';

/** Completions of a group, and steps of a rollout, at most. */
export const MAX_GROUP_SIZE = 2 ** 24;

/** New arrays, of float32s: computed in float64, rounded once. */
export interface GroupAdvantages {
  /** f32 [n]: finite; 0 for a completion of which every reward is missing, and for one that is alone in its group. */
  readonly advantages: Float32Array;
  /** f32 [groups]: of the weighted rewards that are not missing; NaN where all are. */
  readonly means: Float32Array;
  /** f32 [groups]: their unbiased standard deviation; 0 where fewer than two are there. */
  readonly stds: Float32Array;
  /** The share of groups whose standard deviation is 0 (at most 1e-8), in [0, 1]; 0 where there is no group. */
  readonly zeroSpread: number;
}

/** Numbers in groups one after the other. @throws InputError `wrong_length`. */
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
