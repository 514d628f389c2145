/** Formats numbers with two decimals for prompts. The text is the same on every machine. */

/** Texts are precomputed up to this many hundredths: for almost all numbers of an episode. */
const MAX_PRECOMPUTED = 1000;
const TEXTS = Array.from({ length: 2 * MAX_PRECOMPUTED + 1 }, (_, at) => write(at - MAX_PRECOMPUTED));

function write(hundredths: number): string {
  const digits = String(Math.abs(hundredths)).padStart(2, '0');
  return `${hundredths < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Formats a float32 value to the nearest hundredth, halves away from zero: `-.05`, `.70`, `1.25`. Values that round to
 * zero have no sign. `.70` has one token less than `0.70`, and a prompt has about eighty numbers.
 */
export function formatHundredths(value: number): string {
  // The product is exact: a float32 times 100 fits a float64.
  const hundredths = value < 0 ? -Math.round(-value * 100) : Math.round(value * 100);
  return Math.abs(hundredths) <= MAX_PRECOMPUTED ? TEXTS[hundredths + MAX_PRECOMPUTED] : value.toFixed(2);
}
