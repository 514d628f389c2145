/** The prior of the weights, their posterior compared with rejection sampling, Latin hypercubes, and remaining variances. */
import { describe, expect, it } from 'vitest';
import { Evidence } from '../../../src/agents/inference/evidence.js';
import { InferenceDraws } from '../../../src/agents/inference/inference-draws.js';
import { latinUnits } from '../../../src/agents/inference/posterior-samples.js';
import { remainingVariance } from '../../../src/agents/inference/probes.js';
import { Responses } from '../../../src/agents/inference/responses.js';
import { priorWeights, Scratch, WeightPosterior } from '../../../src/agents/inference/weights.js';
import { sampleProfile } from '../../../src/engine/reference/profile.js';
import { NUM_METERS, NUM_STEPS, NUM_TRAITS, OBSERVATION, PROFILE_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import { playObservedEpisodes, rowsOfEnv } from '../../support/observed-episodes.js';

const world = createWorld();

/** Returns the mean and variance of each weight over the selected samples: [5] each. */
function meansAndVariances(
  drawn: Float64Array,
  isSelected: (p: number) => boolean,
): { means: number[]; variances: number[] } {
  const sums = new Array(NUM_METERS).fill(0);
  const squares = new Array(NUM_METERS).fill(0);
  let samples = 0;
  for (let p = 0; p < drawn.length / NUM_METERS; p++) {
    if (!isSelected(p)) continue;
    samples++;
    for (let k = 0; k < NUM_METERS; k++) {
      sums[k] += drawn[p * NUM_METERS + k];
      squares[k] += drawn[p * NUM_METERS + k] ** 2;
    }
  }
  const means = sums.map((sum) => sum / samples);
  return { means, variances: squares.map((sum, k) => sum / samples - means[k] ** 2) };
}

describe('the prior of weights', () => {
  it('has the means and variances of sampled profiles', () => {
    const samples = 20_000;
    const prior = meansAndVariances(priorWeights(samples, new InferenceDraws(3).begin(0)), () => true);
    const sampledWeights = new Float64Array(samples * NUM_METERS);
    const profile = new Float32Array(PROFILE_SIZE);
    for (let seed = 0; seed < samples; seed++) {
      sampleProfile(world.params, seed, profile);
      sampledWeights.set(profile.subarray(NUM_TRAITS), seed * NUM_METERS);
    }
    const sampled = meansAndVariances(sampledWeights, () => true);
    // The bounds are about four standard errors of the difference, with 20,000 samples each.
    for (let k = 0; k < NUM_METERS; k++) {
      expect(Math.abs(prior.means[k] - sampled.means[k])).toBeLessThan(0.005);
      expect(Math.abs(prior.variances[k] / sampled.variances[k] - 1)).toBeLessThan(0.06);
    }
  });
});

describe('after rewards', () => {
  /** Samples of the prior. Rejection sampling keeps the samples that are consistent with every reward. */
  const priorSamples = priorWeights(150_000, new InferenceDraws(11).begin(0));
  const { observations } = playObservedEpisodes(world, { numEnvs: 4, seed: 60 });
  const samples = 4096;

  it.each([0, 1])('samples have the means and variances of rejection sampling (episode %d)', (i) => {
    const draws = new InferenceDraws(5);
    const weights = new WeightPosterior(
      world.params,
      priorWeights(samples, draws.begin(0)),
      new Scratch(samples),
    );
    const evidence = new Evidence(world.params, new Responses(world.params));
    const rows = rowsOfEnv(observations, i);
    for (let step = 1; step < NUM_STEPS; step++) {
      const before = rows[step - 1].subarray(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS);
      expect(weights.observe(evidence.read(rows[step], 0, before), draws.begin(step))).toBe(true);
    }
    const allowed = (drawn: Float64Array) => (p: number) =>
      weights.allows(drawn.subarray(p * NUM_METERS, (p + 1) * NUM_METERS));
    const expected = meansAndVariances(priorSamples, allowed(priorSamples));
    const posterior = meansAndVariances(weights.drawn, () => true);
    const consistent = Array.from({ length: samples }, (_, p) => p).filter(allowed(weights.drawn));
    expect(consistent.length).toBeGreaterThan(0.999 * samples);
    // The bounds are chosen by hand. Rejection sampling keeps thousands of samples.
    for (let k = 0; k < NUM_METERS; k++) {
      expect(Math.abs(posterior.means[k] - expected.means[k])).toBeLessThan(
        0.1 * Math.sqrt(expected.variances[k]),
      );
      expect(Math.abs(posterior.variances[k] / expected.variances[k] - 1)).toBeLessThan(0.15);
    }
  });
});

it('a Latin hypercube has one sample of each trait in each of n equal parts', () => {
  const units = latinUnits(40, new InferenceDraws(2).begin(0));
  for (let trait = 0; trait < NUM_TRAITS; trait++) {
    const parts = Array.from({ length: 40 }, (_, p) => Math.floor(40 * units[p * NUM_TRAITS + trait]));
    expect(parts).not.toEqual(Array.from(parts.keys()));
    expect(new Set(parts).size).toBe(40);
  }
});

it.each([
  [1, 0.3],
  [1, 1],
  [1, 4],
  [2, 1],
])('remainingVariance matches a simulation for a range of width %d and noise of width %d', (width, noise) => {
  const draws = new InferenceDraws(8).begin(0);
  const trials = 100_000;
  let remaining = 0;
  for (let trial = 0; trial < trials; trial++) {
    const sum = width * draws.next() + noise * (draws.next() - 0.5);
    const low = Math.max(0, sum - noise / 2);
    const high = Math.min(width, sum + noise / 2);
    remaining += ((high - low) / width) ** 2 / trials;
  }
  expect(remainingVariance(width, noise)).toBeCloseTo(remaining, 2);
});
