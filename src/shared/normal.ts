/** Distribution function and quantiles of the standard normal distribution. */

/** Beyond this the distribution function differs from 0 or 1 by less than 1e-18. */
const FAR = 9;
const ROOT_TWO_PI = Math.sqrt(2 * Math.PI);

/**
 * Returns the probability that a standard normal number is at most x, with an absolute error below 1e-15.
 * Source of the series: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11.
 */
export function normalCdf(x: number): number {
  if (x >= FAR) return 1;
  if (x <= -FAR) return 0;
  // Adds the terms x^k / (1 * 3 * 5 * ... * k) for odd k, until they no longer change the sum.
  let term = x;
  let sum = 0;
  for (let k = 3; sum + term !== sum; k += 2) {
    sum += term;
    term *= (x * x) / k;
  }
  return 0.5 + (Math.exp(-(x * x) / 2) / ROOT_TWO_PI) * sum;
}

/** Returns x in [-9, 9] such that `normalCdf(x)` is p. @param p in (0, 1). */
export function normalQuantile(p: number): number {
  // Bisects until no float64 lies between the bounds.
  let [low, high] = [-FAR, FAR];
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
}
