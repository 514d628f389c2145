/** What rewards say of the weights: the people kept are those whom brute force keeps, and as likely. */
import { describe, expect, it } from 'vitest';
import { Draws } from '../src/policies/inference/draws.js';
import { Evidence } from '../src/policies/inference/evidence.js';
import { latinUnits } from '../src/policies/inference/people.js';
import { varianceLeft } from '../src/policies/inference/probes.js';
import { Responses } from '../src/policies/inference/responses.js';
import { priorWeights, Scratch, WeightBelief } from '../src/policies/inference/weights.js';
import { sampleProfile } from '../src/reference/profile.js';
import { NUM_METERS, NUM_STEPS, NUM_TRAITS, OBSERVATION, PROFILE_SIZE } from '../src/world/fields.js';
import { createWorld } from '../src/world/world.js';
import { playWeeks, slotOf } from './support/watching.js';

const world = createWorld();

/** Means and variances of each weight, of people who need not all count: [5] each. */
function momentsOf(
  drawn: Float64Array,
  counts: (p: number) => boolean,
): { means: number[]; variances: number[] } {
  const means = new Array(NUM_METERS).fill(0);
  const squares = new Array(NUM_METERS).fill(0);
  let people = 0;
  for (let p = 0; p < drawn.length / NUM_METERS; p++) {
    if (!counts(p)) continue;
    people++;
    for (let k = 0; k < NUM_METERS; k++) {
      means[k] += drawn[p * NUM_METERS + k];
      squares[k] += drawn[p * NUM_METERS + k] ** 2;
    }
  }
  const mean = means.map((sum) => sum / people);
  return { means: mean, variances: squares.map((sum, k) => sum / people - mean[k] ** 2) };
}

describe('the prior of weights', () => {
  it('is that of the world', () => {
    const people = 20_000;
    const own = momentsOf(priorWeights(people, new Draws(3).begin(0)), () => true);
    const theirs = new Float64Array(people * NUM_METERS);
    const profile = new Float32Array(PROFILE_SIZE);
    for (let seed = 0; seed < people; seed++) {
      sampleProfile(world.params, seed, profile);
      theirs.set(profile.subarray(NUM_TRAITS), seed * NUM_METERS);
    }
    const other = momentsOf(theirs, () => true);
    for (let k = 0; k < NUM_METERS; k++) {
      expect(Math.abs(own.means[k] - other.means[k])).toBeLessThan(0.005);
      expect(Math.abs(own.variances[k] / other.variances[k] - 1)).toBeLessThan(0.06);
    }
  });
});

describe('after rewards', () => {
  /** What brute force finds: a great many people of the prior, of whom those count that every reward allows. */
  const many = priorWeights(400_000, new Draws(11).begin(0));
  const { seen } = playWeeks(world, { numEnvs: 4, seed: 60 });
  const people = 4096;

  it.each([0, 1, 2, 3])('people are spread as brute force spreads them (week %d)', (i) => {
    const draws = new Draws(5);
    const belief = new WeightBelief(world.params, priorWeights(people, draws.begin(0)), new Scratch(people));
    const evidence = new Evidence(world.params, new Responses(world.params));
    const rows = slotOf(seen, i);
    for (let step = 1; step < NUM_STEPS; step++) {
      const before = rows[step - 1].subarray(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS);
      expect(belief.observe(evidence.read(rows[step], 0, before), draws.begin(step))).toBe(true);
    }
    const allowed = (drawn: Float64Array) => (p: number) =>
      belief.allows(drawn.subarray(p * NUM_METERS, (p + 1) * NUM_METERS));
    const truth = momentsOf(many, allowed(many));
    const kept = momentsOf(belief.drawn, () => true);
    const own = Array.from({ length: people }, (_, p) => p).filter(allowed(belief.drawn));
    expect(own.length).toBeGreaterThan(0.999 * people);
    for (let k = 0; k < NUM_METERS; k++) {
      expect(Math.abs(kept.means[k] - truth.means[k])).toBeLessThan(0.1 * Math.sqrt(truth.variances[k]));
      expect(Math.abs(kept.variances[k] / truth.variances[k] - 1)).toBeLessThan(0.15);
    }
  });
});

it('a Latin hypercube has each trait once in each of as many equal parts', () => {
  const units = latinUnits(40, new Draws(2).begin(0));
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
])('the variance that luck leaves of a range %d wide, luck being %d wide', (width, luck) => {
  const draws = new Draws(8).begin(0);
  const trials = 200_000;
  let left = 0;
  for (let trial = 0; trial < trials; trial++) {
    const shown = width * draws.next() + luck * (draws.next() - 0.5);
    const low = Math.max(0, shown - luck / 2);
    const high = Math.min(width, shown + luck / 2);
    left += ((high - low) / width) ** 2 / trials;
  }
  expect(varianceLeft(width, luck)).toBeCloseTo(left, 2);
});
