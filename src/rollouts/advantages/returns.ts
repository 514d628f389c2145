/** Discounted returns to go. */
import { InputError } from '../../shared/errors.js';
import { checkFinite } from '../../shared/values.js';

/**
 * Writes the return to go of steps `from` to `to - 1`: the discounted sum of a step's reward and the later ones up to
 * `to - 1`. Sums are float64.
 * @param returns as long as `rewards`.
 */
export function writeReturns(
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

/** Validates a discount factor; 1 by default. @throws InputError `wrong_type` or `out_of_range`. */
export function toDiscount(what: string, discount = 1): number {
  const factor = checkFinite(what, discount);
  if (factor >= 0 && factor <= 1) return factor;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be from 0 to 1, got ${factor}. Pass the factor that weighs a reward one step later.`,
  );
}
