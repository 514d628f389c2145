/**
 * Evidence of steps: traits that one step determines, bounds around the true profile, contradictory observations. The prior and
 * the posterior of the weights, Latin hypercubes and remaining variances.
 */
import { describe, expect, it } from 'vitest';
import { Evidence, Responses } from '../../../src/agents/inference/evidence.js';
import { Inference } from '../../../src/agents/inference/inference.js';
import { ProfilePosterior } from '../../../src/agents/inference/posterior.js';
import { remainingVariance } from '../../../src/agents/inference/probes.js';
import { InferenceDraws, latinUnits, priorWeights } from '../../../src/agents/inference/samples.js';
import { Scratch, WeightPosterior } from '../../../src/agents/inference/weights.js';
import { heuristicAction, randomAction } from '../../../src/engine/reference/baselines.js';
import { Episode } from '../../../src/engine/reference/episode.js';
import { sampleProfile } from '../../../src/engine/reference/profile.js';
import {
  ACTION_NAMES,
  METER,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
  TRAIT_NAMES,
} from '../../../src/world/fields.js';
import { RHYTHM, type WorldSpec } from '../../../src/world/numbers.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { playObservedEpisodes, rowsOfEnv } from '../../support/observed-episodes.js';
import { drawsOf, forAll, type Random } from '../../support/random.js';
import { changedWorld } from '../../support/worlds.js';

const world = createWorld();
const [SLEEP, DEEP_WORK] = ['sleep', 'deep_work'].map((name) => ACTION_NAMES.indexOf(name));
/** Values of `eventThreshold` with which an event happens in no step and in every step. */
const NEVER = 0;
const ALWAYS = 2 ** 32 - 1;

const worldWith = (change: (spec: WorldSpec) => void): World => {
  const spec = structuredClone(RHYTHM);
  change(spec);
  return createWorld(spec);
};
const withEvents = (eventThreshold: number) =>
  worldWith((spec) => {
    spec.constants.eventThreshold = eventThreshold;
  });

function rowOf(episode: Episode): Float32Array {
  const row = new Float32Array(OBSERVATION_SIZE);
  episode.observe(row);
  return row;
}

/** Plays an episode and passes each observation to an inference. */
function playAndInfer(world: World, seed: number, choose: (episode: Episode) => number, steps = NUM_STEPS) {
  const episode = new Episode({ world }).reset(seed);
  const inference = new Inference(world, 1);
  inference.observe(rowOf(episode));
  for (let step = 0; step < steps; step++) {
    episode.step(choose(episode));
    inference.observe(rowOf(episode));
  }
  const report = inference.explain(0);
  const trait = (name: string) => report.traits[TRAIT_NAMES.indexOf(name)];
  const truth = (name: string) => episode.profile[TRAIT_NAMES.indexOf(name)];
  return { episode, inference, report, trait, truth };
}

describe('decay and events have no noise:', () => {
  it.each([
    ['no event determines the metabolic rate', NEVER, ['metabolic_rate']],
    [
      'an event determines the metabolic rate and the event impact',
      ALWAYS,
      ['metabolic_rate', 'event_impact'],
    ],
  ] as const)('one step with %s', (_, threshold, names) => {
    for (const seed of [1, 2, 3]) {
      const { trait, truth } = playAndInfer(withEvents(threshold), seed, () => DEEP_WORK, 1);
      for (const name of names) {
        expect(trait(name).median).toBeCloseTo(truth(name), 3);
        expect(trait(name).relativeWidth).toBeLessThan(0.001);
      }
      if (threshold === NEVER) expect(trait('event_impact').relativeWidth).toBe(1);
    }
  });

  it('a meter that is clamped to 1 hardly bounds the metabolic rate', () => {
    const full = worldWith((spec) => {
      spec.constants.eventThreshold = NEVER;
      spec.initialMeters[METER.vitality] = 1;
    });
    const { trait, truth, episode } = playAndInfer(full, 4, () => SLEEP, 1);
    expect(episode.meters[METER.vitality]).toBe(1);
    expect(trait('metabolic_rate').relativeWidth).toBeGreaterThan(0.9);
    expect(truth('metabolic_rate')).toBeGreaterThan(trait('metabolic_rate').low - 0.1);
  });
});

it('without noise in the meters, one step determines the traits that affect it, and no other trait', () => {
  const quiet = worldWith((spec) => {
    spec.noise.meters = [0, 0, 0, 0, 0];
  });
  const { trait, truth } = playAndInfer(quiet, 6, () => DEEP_WORK, 1);
  for (const name of ['morning_focus', 'work_vitality_recovery', 'progress_serenity_bonus']) {
    expect(trait(name).median).toBeCloseTo(truth(name), 4);
    expect(trait(name).relativeWidth).toBeLessThan(0.001);
  }
  for (const name of ['night_focus', 'social_vitality_multiplier', 'leisure_guilt']) {
    expect(trait(name).relativeWidth).toBe(1);
  }
});

it('one step bounds the stress threshold by the serenity before the step', () => {
  let narrowed = 0;
  forAll(200, (random) => {
    const serenity = random.real(0.16, 0.44);
    const quiet = worldWith((spec) => {
      spec.noise.meters = [0, 0, 0, 0, 0];
      spec.initialMeters[METER.serenity] = serenity;
    });
    const { trait, truth } = playAndInfer(quiet, random.integer(0, 1000), () => SLEEP, 1);
    const { low: from, high: to, relativeWidth } = trait('stress_threshold');
    const stressed = Math.fround(serenity) < truth('stress_threshold');
    if (stressed) expect(from).toBeGreaterThanOrEqual(Math.fround(serenity));
    else expect(to).toBeLessThanOrEqual(Math.fround(serenity));
    if (relativeWidth < 0.99) narrowed++;
  });
  // A default run narrows the interval in all its 30 draws; 25 is chosen by hand.
  expect(narrowed).toBeGreaterThan(25);
});

/** Returns the posterior of one environment, and a function that passes it an observation. */
function posteriorIn(world: World) {
  const draws = new InferenceDraws(1).begin(0);
  const posterior = new ProfilePosterior(world.params, priorWeights(32, draws), new Scratch(32));
  const evidence = new Evidence(world.params, new Responses(world.params));
  return { posterior, observe: (row: Float32Array) => posterior.observe(row, 0, evidence, draws) };
}

/** Checks that the true profile is allowed after every step, without contradictions. */
function expectNeverExcluded(world: World, seed: number, choose: (episode: Episode) => number): void {
  const { posterior, observe } = posteriorIn(world);
  const episode = new Episode({ world }).reset(seed);
  observe(rowOf(episode));
  for (let step = 0; step < NUM_STEPS; step++) {
    episode.step(choose(episode));
    observe(rowOf(episode));
    if (posterior.allows(episode.profile) && posterior.contradicted === 0) continue;
    expect.fail(`seed ${seed}, step ${step}: ${JSON.stringify([...episode.profile])} is excluded`);
  }
}

describe('the true profile is never excluded', () => {
  it.each(['heuristic', 'random'])('by whole episodes of the %s policy', (actor) => {
    for (let seed = 30_000; seed < 30_000 + drawsOf(500); seed++) {
      expectNeverExcluded(world, seed, ({ stepCount, meters }) =>
        actor === 'random'
          ? randomAction(world.params, seed, stepCount, 0)
          : heuristicAction(world.params, stepCount % NUM_SLOTS, meters),
      );
    }
  });

  it('in worlds with changed numbers', () => {
    forAll(300, (random) => {
      const other = createWorld(changedWorld(random));
      const seed = random.integer(0, 2 ** 31);
      expectNeverExcluded(other, seed, ({ stepCount }) => randomAction(other.params, seed, stepCount, 0));
    });
  });

  it('by 20 episodes, each of which excludes the profile of another episode', () => {
    const { observations } = playObservedEpisodes(world, { numEnvs: 20, seed: 31_000 });
    const profiles = Array.from({ length: 20 }, (_, i) => new Episode({ world }).reset(31_000 + i).profile);
    const allowed = profiles.map((profile, i) => {
      const { posterior, observe } = posteriorIn(world);
      for (const row of rowsOfEnv(observations, i)) observe(row);
      return [posterior.allows(profile), posterior.allows(profiles[(i + 1) % 20])];
    });
    expect(allowed).toEqual(Array(20).fill([true, false]));
  });
});

describe('contradictory observations', () => {
  const smallBatch = { numEnvs: 8, seed: 40 };
  const expectValid = (inference: Inference) => {
    for (const numbers of [inference.beliefs(), inference.posteriorSamples(40), inference.probeValues()]) {
      expect(numbers.every(Number.isFinite)).toBe(true);
    }
    expect(inference.beliefs().every((belief) => belief >= 0 && belief <= 1)).toBe(true);
  };

  it('are counted if they come from another world, and all results stay valid', () => {
    const loud = worldWith((spec) => {
      spec.noise.meters = [0.3, 0.3, 0.3, 0.3, 0.3];
      spec.noise.reward = 20;
    });
    const inference = new Inference(world, smallBatch.numEnvs);
    const steps = 8;
    for (const rows of playObservedEpisodes(loud, smallBatch).observations.slice(0, steps + 1)) {
      inference.observe(rows);
      expectValid(inference);
    }
    const reports = Array.from({ length: smallBatch.numEnvs }, (_, i) => inference.explain(i));
    for (const { contradicted, evidence } of reports) {
      expect(evidence).toBe(steps);
      expect(contradicted).toBeGreaterThan(steps / 2);
    }
  });

  it('widen the posterior, and the report names the meter that was altered', () => {
    const { observations } = playObservedEpisodes(world, smallBatch);
    const inference = new Inference(world, smallBatch.numEnvs);
    for (const rows of observations.slice(0, 5)) inference.observe(rows);
    const row = observations[5].slice();
    for (let i = 0; i < smallBatch.numEnvs; i++) {
      row[i * OBSERVATION_SIZE + OBSERVATION.lastAction] = DEEP_WORK;
      row[i * OBSERVATION_SIZE + OBSERVATION.anomalies + METER.vitality] = 0.9;
    }
    const before = inference.explain(0);
    inference.observe(row);
    expectValid(inference);
    const { last, contradicted, traits } = inference.explain(0);
    expect(contradicted).toBe(1);
    const contradictory = last!.findings.filter(({ contradiction }) => contradiction);
    expect(contradictory.map(({ meter }) => meter)).toEqual(['vitality']);
    const work = TRAIT_NAMES.indexOf('work_vitality_recovery');
    expect(traits[work].relativeWidth).toBeGreaterThan(before.traits[work].relativeWidth);
  });

  it('give finite results if they are random valid numbers', () => {
    forAll(60, (random) => {
      const inference = new Inference(world, 1, { samples: 32 });
      // A step may be repeated or skipped, and the episode may begin again.
      for (let step = 0; step <= NUM_STEPS; step += random.integer(0, 2)) {
        const row = anyRow(random, step);
        inference.observe(row);
        expectValid(inference);
        expect(inference.explain(0).step).toBe(step);
        if (random.chance(0.02)) step = 0;
      }
    });
  });
});

/** Returns an observation of random valid numbers at a step. */
function anyRow(random: Random, step: number): Float32Array {
  const row = new Float32Array(OBSERVATION_SIZE);
  row[OBSERVATION.step] = step;
  row[OBSERVATION.event] = random.integer(-1, 4);
  row[OBSERVATION.lastAction] = random.integer(step > 0 ? 0 : -1, 9);
  const wide = random.pick([0.01, 0.1, 1, 1e6]);
  row[OBSERVATION.reward] = random.real(-wide, wide);
  for (let k = 0; k < NUM_METERS; k++) {
    row[OBSERVATION.meters + k] = random.pick([0, 1, random.real()]);
    row[OBSERVATION.deltas + k] = random.pick([0, random.real(-1, 1)]);
    row[OBSERVATION.anomalies + k] = random.pick([0, random.real(-wide, wide)]);
  }
  return row;
}

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
