/** Returns to go: what a step is followed by, rewards that come later counting less. */
import { InputError } from '../errors.js';
import { checkFinite } from '../validate/values.js';

/**
 * Writes, for each of the steps `from` to before `to`, the discounted sum of the rewards from it on. Sums are float64s.
 * @param returns as many numbers as rewards.
 */
export function putReturns(
  returns: Float32Array | Float64Array,
  rewards: Float32Array | Float64Array,
  from: number,
  to: number,
  discount: number,
): void {
  for (let at = to - 1, sum = 0; at >= from; at--) {
    sum = rewards[at] + discount * sum;
    returns[at] = sum;
  }
}

/** What a reward one step later counts: 1 if it is not said. @throws InputError `wrong_type` or `out_of_range`. */
export function toDiscount(what: string, discount = 1): number {
  const factor = checkFinite(what, discount);
  if (factor >= 0 && factor <= 1) return factor;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be from 0 to 1, got ${factor}. Pass what a reward one step later counts.`,
  );
}
