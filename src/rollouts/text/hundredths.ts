/** Formats numbers for prompts: two decimals, no zero before the point, the same text on every machine. */

/** Texts are precomputed up to this many hundredths, which covers almost all numbers of an episode. */
const READY = 1000;
const TEXTS = Array.from({ length: 2 * READY + 1 }, (_, at) => write(at - READY));

function write(hundredths: number): string {
  const digits = String(Math.abs(hundredths)).padStart(2, '0');
  return `${hundredths < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Formats a float32 value to the nearest hundredth, halves away from zero: `-.05`, `.70`, `1.25`. Values that round to
 * zero have no sign. Language models use one token less for `.70` than for `0.70`, and a prompt has about eighty
 * numbers.
 */
export function hundredthsOf(value: number): string {
  // The product is exact: a float32 times 100 fits a float64.
  const hundredths = value < 0 ? -Math.round(-value * 100) : Math.round(value * 100);
  return Math.abs(hundredths) <= READY ? TEXTS[hundredths + READY] : value.toFixed(2);
}
