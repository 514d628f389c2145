/** How prompts, answers and reasons spell numbers and actions. */

/** Returns an action's name as answers spell it. */
export const spell = (action: string): string => action.toUpperCase();

/** Returns the digit, 0 to 9, that states a belief in [0, 1] in an answer. */
export const digitOf = (belief: number): number => Math.round(belief * 9);

/** Texts are precomputed up to this many hundredths, which covers almost all numbers of an episode. */
const MAX_PRECOMPUTED = 1000;
const HUNDREDTHS = Array.from({ length: 2 * MAX_PRECOMPUTED + 1 }, (_, at) => {
  const digits = String(Math.abs(at - MAX_PRECOMPUTED)).padStart(2, '0');
  return `${at < MAX_PRECOMPUTED ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
});

/**
 * A little more than 100. `Math.round` rounds -1.5 up to -1; with this factor it rounds negative halves away from zero, as it
 * does positive ones. No other result below 2^28 changes: unless 100 times a float32 is k + 1/2 for an integer k, it differs
 * from every k + 1/2 by at least 2^-29 of its value.
 */
const HUNDRED = 100 * (1 + 2 ** -40);

/**
 * Formats a float32 value to the nearest hundredth, halves away from zero: `-.05`, `.70`, `1.25`. Values that round to
 * zero have no sign. `.70` has one token fewer than `0.70`, and a prompt has about eighty numbers.
 */
export const formatHundredths = (value: number): string => afterPrefix('', HUNDREDTHS, value);

const AFTER_SPACE = HUNDREDTHS.map((number) => ` ${number}`);

/** Returns a space and the text of `formatHundredths`. */
export const hundredthsAfterSpace = (value: number): string => afterPrefix(' ', AFTER_SPACE, value);

/** @param precomputed the texts of HUNDREDTHS, each after the prefix. */
function afterPrefix(prefix: string, precomputed: readonly string[], value: number): string {
  const hundredths = Math.round(value * HUNDRED);
  return Math.abs(hundredths) <= MAX_PRECOMPUTED
    ? precomputed[hundredths + MAX_PRECOMPUTED]
    : prefix + value.toFixed(2);
}
