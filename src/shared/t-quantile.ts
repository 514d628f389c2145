/** Quantile of Student's t distribution for 95 % intervals. */

/**
 * Returns t such that 95 % of the distribution lies between -t and t, to 12 digits or more.
 * Source of the formulas: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 to 26.7.5.
 * @param df degrees of freedom: an integer of at least 1.
 */
export function tQuantile(df: number): number {
  if (df >= 500) return expansion(df);
  let low = 0;
  let high = Math.PI / 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return Math.sqrt(df) * Math.tan(middle);
    if (probabilityWithin(middle, df) < 0.95) low = middle;
    else high = middle;
  }
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;
/** Coefficients of 1, 1/df, 1/df^2 and so on. */
const EXPANSION = [
  Z,
  (Z ** 3 + Z) / 4,
  (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
  (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  (79 * Z ** 9 + 776 * Z ** 7 + 1482 * Z ** 5 - 1920 * Z ** 3 - 945 * Z) / 92160,
];

const expansion = (df: number): number => EXPANSION.reduceRight((sum, coefficient) => sum / df + coefficient);

/** Returns the probability that |t| < sqrt(df) tan(angle). */
function probabilityWithin(angle: number, df: number): number {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const odd = df % 2;
  let term = odd ? cosine : 1;
  let sum = df === 1 ? 0 : term;
  for (let k = 2 + odd; k < df; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}
