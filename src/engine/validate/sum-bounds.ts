/** Bounds of the sums `well` and `skill` of an episode, by its step count. */
import type { Params } from '../../world/block.js';
import { MAX_SUM } from '../../world/fields.js';
import { SUM_TOLERANCE, sumsToOne } from '../../world/validate-world.js';

/** Inclusive bounds of a sum. */
export type Bounds = readonly [low: number, high: number];

const UNBOUNDED: Bounds = [-MAX_SUM, MAX_SUM];
const ONLY_ZERO: Bounds = [0, 0];
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
