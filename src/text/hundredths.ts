/** Numbers as prompts show them: two decimals, no zero before the point, the same text everywhere. */

/** Whole numbers of hundredths up to this have their text ready: almost all that an episode shows. */
const READY = 1000;
const TEXTS = Array.from({ length: 2 * READY + 1 }, (_, at) => write(at - READY));

function write(hundredths: number): string {
  const digits = String(Math.abs(hundredths)).padStart(2, '0');
  return `${hundredths < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * A float32 value to the nearest hundredth, halves away from zero: `-.05`, `.70`, `1.25`. What rounds to zero has no sign.
 * Language models spend a token less on `.70` than on `0.70`, in some eighty numbers of a prompt.
 */
export function hundredthsOf(value: number): string {
  // Exact: a float32 times 100 fits a float64.
  const hundredths = value < 0 ? -Math.round(-value * 100) : Math.round(value * 100);
  return Math.abs(hundredths) <= READY ? TEXTS[hundredths + READY] : value.toFixed(2);
}
