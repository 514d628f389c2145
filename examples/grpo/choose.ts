/** From logits to choices: what an agent does with the numbers that a network gives. */

/** Picks an index of `logits[start]` to `logits[start + count - 1]`, and returns it counted from 0. */
export type Choose = (logits: Float32Array, start: number, count: number) => number;

/** Draws each index as often as the logits say. @param random uniform in [0, 1). */
export function sampling(random: () => number): Choose {
  return (logits, start, count) => {
    const weights = weightsOf(logits, start, count);
    const total = weights.reduce((sum, weight) => sum + weight);
    let left = random() * total;
    const found = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return found < 0 ? count - 1 : found; // rounding may leave a remainder
  };
}

/** Takes the likeliest index. */
export const greedy: Choose = (logits, start, count) => {
  let best = 0;
  for (let k = 1; k < count; k++) if (logits[start + k] > logits[start + best]) best = k;
  return best;
};

function weightsOf(logits: Float32Array, start: number, count: number): number[] {
  let highest = logits[start];
  for (let k = 1; k < count; k++) highest = Math.max(highest, logits[start + k]);
  return Array.from({ length: count }, (_, k) => Math.exp(logits[start + k] - highest));
}
