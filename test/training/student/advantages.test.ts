/** Compares advantages with their definition, the weighted sum of later prediction errors. */
import { expect, it } from 'vitest';
import { advantagesOf } from '../../../src/training/student/refine/advantages.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { Random } from '../../support/random.js';

const random = new Random('advantages');
const EPISODES = 5;
const values = Float32Array.from({ length: EPISODES * NUM_STEPS }, () => random.real(0, 1));
const finalScores = Float32Array.from({ length: EPISODES }, () => random.real(0, 1));

/** Returns the advantages before normalisation. */
function definition(lambda: number): number[] {
  return Array.from(values, (_, row) => {
    const i = Math.floor(row / NUM_STEPS);
    let sum = 0;
    for (let later = row; later < (i + 1) * NUM_STEPS; later++) {
      const next = later === (i + 1) * NUM_STEPS - 1 ? finalScores[i] : values[later + 1];
      sum += lambda ** (later - row) * (next - values[later]);
    }
    return sum;
  });
}

it.each([0, 0.5, 0.95, 1])(
  'advantages are normalised weighted sums of prediction errors: lambda %d',
  (lambda) => {
    const { advantages, returns } = advantagesOf(values, finalScores, lambda);
    const expected = definition(lambda);
    const mean = expected.reduce((sum, each) => sum + each) / expected.length;
    const spread = Math.sqrt(expected.reduce((sum, each) => sum + (each - mean) ** 2, 0) / expected.length);
    for (const [row, advantage] of expected.entries()) {
      expect(returns[row]).toBeCloseTo(values[row] + advantage, 5);
      expect(advantages[row]).toBeCloseTo((advantage - mean) / spread, 4);
    }
  },
);

it('at lambda 1 the returns are the final scores, and equal advantages become 0', () => {
  const { returns } = advantagesOf(values, finalScores, 1);
  expect(returns[3 * NUM_STEPS + 7]).toBeCloseTo(finalScores[3], 5);
  const known = Float32Array.from(values, (_, row) => finalScores[Math.floor(row / NUM_STEPS)]);
  expect(new Set(advantagesOf(known, finalScores, 1).advantages)).toEqual(new Set([0]));
});
