/** Formats numbers with two decimals for prompts. The text is the same on every machine. */

/** Texts are precomputed up to this many hundredths, which covers almost all numbers of an episode. */
export const MAX_PRECOMPUTED = 1000;
const TEXTS = Array.from({ length: 2 * MAX_PRECOMPUTED + 1 }, (_, at) => write(at - MAX_PRECOMPUTED));

function write(hundredths: number): string {
  const digits = String(Math.abs(hundredths)).padStart(2, '0');
  return `${hundredths < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * A little more than 100. `Math.round` rounds -1.5 up to -1; with this factor it rounds negative halves away from zero, as it
 * does positive ones. No other result below 2^28 changes: unless 100 times a float32 is k + 1/2 for an integer k, it differs
 * from every k + 1/2 by at least 2^-29 of its value.
 */
export const HUNDRED = 100 * (1 + 2 ** -40);

/** Returns the hundredths of a float32 value, halves rounded away from zero. */
export const hundredthsOf = (value: number): number => Math.round(value * HUNDRED);

/**
 * Formats a float32 value to the nearest hundredth, halves away from zero: `-.05`, `.70`, `1.25`. Values that round to
 * zero have no sign. `.70` has one token fewer than `0.70`, and a prompt has about eighty numbers.
 */
export function formatHundredths(value: number): string {
  const hundredths = hundredthsOf(value);
  return Math.abs(hundredths) <= MAX_PRECOMPUTED ? TEXTS[hundredths + MAX_PRECOMPUTED] : value.toFixed(2);
}
