/** Chooses actions and beliefs from the logits of a network. */

/** Returns an index below `count`, chosen by the logits from `logits[start]` on. */
type Choose = (logits: Float32Array, start: number, count: number) => number;

/** The functions that choose actions and belief levels. */
export interface Choices {
  readonly action: Choose;
  readonly belief: Choose;
}

/** Samples from the logits, for training. @param random uniform in [0, 1). */
export function sampled(random: () => number): Choices {
  const draw: Choose = (logits, start, count) => quantile(weightsOf(logits, start, count), random());
  return { action: draw, belief: draw };
}

/** Chooses the most likely action and the median belief, which minimises the absolute error. For evaluation. */
export const greedy: Choices = {
  action: (logits, start, count) => {
    let highest = 0;
    for (let k = 1; k < count; k++) if (logits[start + k] > logits[start + highest]) highest = k;
    return highest;
  },
  belief: (logits, start, count) => quantile(weightsOf(logits, start, count), 0.5),
};

/** Returns the first index at which the cumulative share of the weights exceeds `share`, in [0, 1). */
function quantile(weights: readonly number[], share: number): number {
  let remaining = share * weights.reduce((sum, weight) => sum + weight);
  const index = weights.findIndex((weight) => {
    remaining -= weight;
    return remaining < 0;
  });
  return index < 0 ? weights.length - 1 : index; // rounding may leave a remainder
}

/** Returns unnormalised probabilities. */
function weightsOf(logits: Float32Array, start: number, count: number): number[] {
  let highest = logits[start];
  for (let k = 1; k < count; k++) highest = Math.max(highest, logits[start + k]);
  return Array.from({ length: count }, (_, k) => Math.exp(logits[start + k] - highest));
}
