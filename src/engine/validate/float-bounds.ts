/** Bounds of numbers: ranges of many float32s, checked by their bits, and the bounds of the sums `well` and `skill` of an episode. */

import type { Params } from '../../world/block.js';
import { MAX_SUM } from '../../world/fields.js';
import { SUM_TOLERANCE, sumsToOne } from '../../world/validate-world.js';

/** A range of floats: 0, and magnitudes from `low` to `high`. It includes negative floats only if `signed`. */
export interface FloatRange {
  readonly low: number;
  readonly high: number;
  readonly signed: boolean;
}

/** All bits but the sign. */
const MAGNITUDE = 0x7fffffff;

/** Returns a view of floats as integers with the same bits. */
const wordsOf = (floats: Float32Array): Int32Array =>
  new Int32Array(floats.buffer, floats.byteOffset, floats.length);

/**
 * Returns the bits of a float as an integer. For positive floats, a larger float has larger bits; infinity and NaN have the
 * largest. The bits of negative floats are negative integers.
 */
const bitsOf = (float: number): number => wordsOf(Float32Array.of(float))[0];

/**
 * Returns the index of the first float outside a range; -1 if there is none. NaN is outside every range. Replaces each -0 that
 * it finds by 0.
 * @param floats rows of `width` floats, changed in place. @param mask u8 [rows], the rows to check; null for all.
 */
export function firstOutside(
  floats: Float32Array,
  { low, high, signed }: FloatRange,
  width: number,
  mask: Uint8Array | null,
): number {
  const words = wordsOf(floats);
  // Without the sign bit, a negative float has the bits of its magnitude. With it, the bits are negative: below every range.
  const bitMask = signed ? MAGNITUDE : -1;
  const [lowBits, highBits] = [bitsOf(low), bitsOf(high)];
  for (let row = 0, at = 0; at < words.length; row++) {
    const end = at + width;
    if (mask !== null && mask[row] === 0) at = end;
    for (; at < end; at++) {
      const bits = words[at] & bitMask;
      if (bits >= lowBits && bits <= highBits) continue;
      if ((words[at] & MAGNITUDE) !== 0) return at;
      // The float is 0 or -0.
      words[at] = 0;
    }
  }
  return -1;
}

/** Inclusive bounds of a sum. */
export type Bounds = readonly [low: number, high: number];

/** The bounds of a sum in any world, and of a sum to which nothing was added. */
export const UNBOUNDED: Bounds = [-MAX_SUM, MAX_SUM];
export const ONLY_ZERO: Bounds = [0, 0];
/**
 * The bounds of the rounding error of `skill`, unless SKILL_ROUNDING_SHARE gives more. `start` is for sums that a reset gives.
 * `snapshot` is larger: an episode may have begun with a sum at the bound `start`, and steps since then may have added rounding
 * errors. Both are chosen by hand: with the built-in numbers the errors are below 0.001.
 */
export const SKILL_ROUNDING = { start: 0.01, snapshot: 0.011 } as const;
/** The bound of the rounding error, divided by the magnitude of the sum. The roundings of 28 steps give less. */
export const SKILL_ROUNDING_SHARE = 2 ** -18;

/**
 * Returns the bounds of `well` after `steps` steps; both are 0 if `steps` is 0. If no weight is negative and the weights sum
 * to 1, the bounds are 0 and `steps`, with a tolerance, because meters are in [0, 1]. Else they are -MAX_SUM and MAX_SUM.
 * @param weights f32 [5]; null if they are unknown.
 */
export function wellBounds(steps: number, weights: ArrayLike<number> | null): Bounds {
  if (steps === 0) return ONLY_ZERO;
  if (weights === null || !sumsToOne(weights)) return UNBOUNDED;
  for (let k = 0; k < weights.length; k++) if (weights[k] < 0) return UNBOUNDED;
  return [0, steps * (1 + 2 * SUM_TOLERANCE)];
}

/**
 * Returns the bounds of `skill` after `steps` steps. A term is 1 minus beliefSkillScale times a number in [0, 1]; without a
 * belief it is 0.
 * @param minError the least bound of the rounding error, from SKILL_ROUNDING.
 */
export function skillBounds(
  { beliefSkillFrom, beliefSkillScale }: Params,
  steps: number,
  minError: number = SKILL_ROUNDING.start,
): Bounds {
  const terms = Math.max(0, steps - beliefSkillFrom);
  if (terms === 0) return ONLY_ZERO;
  const lowest = 1 - beliefSkillScale;
  const error = Math.max(minError, terms * Math.abs(lowest) * SKILL_ROUNDING_SHARE);
  return [terms * Math.min(0, lowest) - error, terms * Math.max(1, lowest) + error];
}
