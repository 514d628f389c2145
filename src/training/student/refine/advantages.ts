/** Advantages of actions, for a reward at the end of an episode. */
import { NUM_STEPS } from '../../../world/fields.js';

export interface Advantages {
  /** f32 [n * 28]: mean 0, variance 1. */
  readonly advantages: Float32Array;
  /** f32 [n * 28]: what the critic should predict. */
  readonly returns: Float32Array;
}

/**
 * Returns generalised advantage estimates (Schulman et al. 2016) without discounting.
 * @param values f32 [n * 28]: the critic's predictions of the final scores before each step.
 * @param finalScores f32 [n]. @param lambda the weight of later predictions, in [0, 1]; at 1 only the final score counts.
 */
export function advantagesOf(
  values: Float32Array,
  finalScores: ArrayLike<number>,
  lambda: number,
): Advantages {
  const [advantages, returns] = [new Float32Array(values.length), new Float32Array(values.length)];
  for (let i = 0; i < finalScores.length; i++) {
    let [next, advantage] = [finalScores[i], 0];
    for (let row = (i + 1) * NUM_STEPS - 1; row >= i * NUM_STEPS; row--) {
      advantage = next - values[row] + lambda * advantage;
      advantages[row] = advantage;
      returns[row] = advantage + values[row];
      next = values[row];
    }
  }
  normalise(advantages);
  return { advantages, returns };
}

function normalise(numbers: Float32Array): void {
  let [sum, squares] = [0, 0];
  for (const number of numbers) {
    sum += number;
    squares += number * number;
  }
  const mean = sum / numbers.length;
  const spread = Math.sqrt(Math.max(squares / numbers.length - mean * mean, 0)) + SMALLEST_SPREAD;
  for (let k = 0; k < numbers.length; k++) numbers[k] = (numbers[k] - mean) / spread;
}

/** Keeps equal advantages at 0. */
const SMALLEST_SPREAD = 1e-8;
