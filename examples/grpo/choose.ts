/** From logits to choices: what an agent does with the numbers that a network gives. */

/** Picks an index of `logits[start]` to `logits[start + count - 1]`, and returns it counted from 0. */
type Choose = (logits: Float32Array, start: number, count: number) => number;

/** How actions are chosen among ten, and beliefs among their levels. */
export interface Choices {
  readonly action: Choose;
  readonly belief: Choose;
}

/** Draws each index as often as the logits say: for training. @param random uniform in [0, 1). */
export function sampled(random: () => number): Choices {
  const draw: Choose = (logits, start, count) => quantile(weightsOf(logits, start, count), random());
  return { action: draw, belief: draw };
}

/** For evaluation: the likeliest action; the median of a belief, of which an absolute error is least. */
export const best: Choices = {
  action: (logits, start, count) => {
    let found = 0;
    for (let k = 1; k < count; k++) if (logits[start + k] > logits[start + found]) found = k;
    return found;
  },
  belief: (logits, start, count) => quantile(weightsOf(logits, start, count), 0.5),
};

/** The index at which the share of weights from the first on exceeds `share`, in [0, 1). */
function quantile(weights: readonly number[], share: number): number {
  let left = share * weights.reduce((sum, weight) => sum + weight);
  const found = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return found < 0 ? weights.length - 1 : found; // rounding may leave a remainder
}

/** Probabilities, times what they sum to. */
function weightsOf(logits: Float32Array, start: number, count: number): number[] {
  let highest = logits[start];
  for (let k = 1; k < count; k++) highest = Math.max(highest, logits[start + k]);
  return Array.from({ length: count }, (_, k) => Math.exp(logits[start + k] - highest));
}
