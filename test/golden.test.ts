/** Every golden value, on the reference and on every kernel that this machine has. */
import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { threefry } from '../src/reference/threefry.js';
import type { StepResult } from '../src/vec-env/options.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  OBSERVATION_FIELDS,
  PROFILE_NAMES,
} from '../src/world/fields.js';
import { createWorld } from '../src/world/world.js';
import { ENGINES, type Engine, nameAbsent, openOn } from './support/engines.js';
import { episodes, type GoldenEpisode, profiles, tables, threefryVectors } from './support/golden.js';

const world = createWorld();

nameAbsent();

test.each(threefryVectors)('threefry of key $key, counter $counter', ({ key, counter, output }) => {
  const draw = threefry(Number(key[0]), Number(key[1]), Number(counter[0]), Number(counter[1]), {
    x0: 0,
    x1: 0,
  });
  expect([draw.x0, draw.x1]).toEqual(output.map(Number));
});

test('crash_free of every crash count', () => {
  const { perReading } = world.params;
  const computed = profiles.crash_free_by_crashes.map((_, n) => Math.fround(1 - Math.fround(n * perReading)));
  expect(computed).toEqual(profiles.crash_free_by_crashes);
});

/** The profile that a golden episode names, as `reset` takes it. */
function profileOf(episode: GoldenEpisode): string | Float32Array {
  if (episode.profile !== 'explicit') return episode.profile;
  return Float32Array.from([...Object.values(episode.traits), ...Object.values(episode.weights)]);
}

const codes = (episode: GoldenEpisode) => episode.steps.map((step) => ACTION_NAMES.indexOf(step.action));
const beliefRow = (belief: number[] | null) =>
  Float32Array.from(belief ?? [Number.NaN, Number.NaN, Number.NaN]);
const eventCode = (name: string | null) => (name === null ? -1 : EVENT_NAMES.indexOf(name));
const hex = (hash: bigint) => hash.toString(16).padStart(16, '0');

function openEpisode(engine: Engine, episode: GoldenEpisode) {
  const env = openOn(engine, { numEnvs: 1, imagination: episode.imagination });
  env.reset({ seed: episode.seed, profiles: profileOf(episode), graders: episode.grader });
  return env;
}

function observed(observations: Float32Array): Record<string, number | number[]> {
  return Object.fromEntries(
    OBSERVATION_FIELDS.map(({ name, offset, size }) => [
      name,
      size === 1 ? observations[offset] : Array.from(observations.subarray(offset, offset + size)),
    ]),
  );
}

describe.each(ENGINES)('$name', (engine) => {
  describe.each(episodes)('episode: $name', (episode) => {
    it('step by step', () => {
      using env = openEpisode(engine, episode);
      expect(Array.from(env.beliefTargets())).toEqual(episode.belief_target);
      const golden = new Map(episode.observations.map((observation) => [observation.step, observation]));
      let result = env.reset({ seed: episode.seed, profiles: profileOf(episode), graders: episode.grader });
      expect(observed(result.observations)).toEqual(golden.get(0));
      episode.steps.forEach((step, t) => {
        expect(hex(env.stateHash()[0])).toBe(step.state_hash);
        result = env.step([codes(episode)[t]], { beliefs: beliefRow(step.belief) });
        const seen = observed(result.observations);
        expect(result.rewards[0]).toBe(step.reward);
        expect(seen).toMatchObject({
          event: eventCode(step.event),
          meters: step.meters,
          reward: step.reward,
        });
        expect(seen.deltas).toEqual(step.delta);
        expect(seen.anomalies).toEqual(step.anomaly);
        if (golden.has(t + 1)) expect(seen).toEqual(golden.get(t + 1));
        expect(result.terminated[0]).toBe(t === 27 ? 1 : 0);
      });
      expectFinal(result, episode);
    });

    it('fused, with its trajectory', () => {
      using env = openEpisode(engine, episode);
      const choice = episode.policy === 'tape' ? Uint8Array.from(codes(episode)) : episode.policy;
      const beliefs = Float32Array.from(episode.steps.flatMap((step) => Array.from(beliefRow(step.belief))));
      const result = env.run(choice, { beliefs, trajectory: true });
      const { trajectory } = result;
      expect(Array.from(trajectory!.actions)).toEqual(codes(episode));
      expect(Array.from(trajectory!.events)).toEqual(episode.steps.map((step) => eventCode(step.event)));
      expect(Array.from(trajectory!.rewards)).toEqual(episode.steps.map((step) => step.reward));
      expect(Array.from(trajectory!.meters)).toEqual(episode.steps.flatMap((step) => step.meters));
      expect(Array.from(trajectory!.deltas)).toEqual(episode.steps.flatMap((step) => step.delta));
      expect(Array.from(trajectory!.anomalies)).toEqual(episode.steps.flatMap((step) => step.anomaly));
      expectFinal(result, episode);
    });
  });

  it('random policies', () => {
    const seeds = profiles.random_policies.map((row) => row.seed);
    const policySeeds = profiles.random_policies.map((row) => row.policy_seed);
    using env = openOn(engine, { numEnvs: seeds.length });
    env.reset({ seed: seeds });
    const { trajectory } = env.run('random', { policySeeds, trajectory: true });
    expect(Array.from(trajectory!.actions)).toEqual(profiles.random_policies.flatMap((row) => row.actions));
  });

  it('belief targets and events of sampled profiles', () => {
    using env = openOn(engine, { numEnvs: profiles.profiles.length });
    env.reset({ seed: profiles.profiles.map((row) => row.seed) });
    expect(Array.from(env.beliefTargets())).toEqual(profiles.profiles.flatMap((row) => row.belief_target));
    const { trajectory } = env.run('heuristic', { trajectory: true });
    expect(Array.from(trajectory!.events)).toEqual(profiles.profiles.flatMap((row) => row.events));
  });

  it('profiles, sampled and discrete', () => {
    for (const golden of profiles.profiles) {
      const given = Float32Array.from([...Object.values(golden.traits), ...Object.values(golden.weights)]);
      expect(hashOf(engine, golden.seed, 'sampled')).toBe(hashOf(engine, golden.seed, given));
      expect(PROFILE_NAMES).toContain(golden.discrete_profile);
      expect(hashOf(engine, golden.seed, 'discrete')).toBe(
        hashOf(engine, golden.seed, golden.discrete_profile),
      );
    }
  });

  it.each(Object.entries(tables))('table %s', (key, golden) => {
    const [condition, policy, belief, grader] = key.split('/');
    using env = openOn(engine, { numEnvs: golden.n, grader });
    env.reset({ seed: firstSeed(condition), profiles: condition.split(':')[1] ?? 'sampled' });
    const result = env.run(policy as 'random', belief === 'constant' ? { beliefs: [0.5, 0.5, 0.5] } : {});
    const bytes = new Uint8Array(result.finalScores.buffer, result.finalScores.byteOffset, golden.n * 4);
    expect(createHash('sha256').update(bytes).digest('hex').slice(0, 16)).toBe(golden.digest);
    const mean = (values: ArrayLike<number>) => Array.from(values).reduce((sum, x) => sum + x, 0) / golden.n;
    expect(Math.abs(mean(result.finalScores) - golden.final_score)).toBeLessThan(1e-12);
    expect(Math.abs(mean(result.beliefMae) - golden.belief_mae)).toBeLessThan(1e-12);
    COMPONENT_NAMES.forEach((name, k) => {
      const column = Array.from({ length: golden.n }, (_, i) => result.components[i * 6 + k]);
      expect(Math.abs(mean(column) - golden[name])).toBeLessThan(1e-12);
    });
  });
});

/** The first of a condition's seeds. */
function firstSeed(condition: string): number {
  return { 'in-distribution': 0, ood: 10000, large: 20000 }[condition] ?? 0;
}

/** The hash at reset: equal hashes of equal seeds mean equal profiles. */
function hashOf(engine: Engine, seed: number, profiles: string | Float32Array): bigint {
  using env = openOn(engine, { numEnvs: 1 });
  env.reset({ seed, profiles });
  return env.stateHash()[0];
}

/** Mean reward of the half week from step `first` on, without luck: rule 8 on golden deltas, meters and weights. */
function halfMean({ steps, weights }: GoldenEpisode, first: number): number {
  const f32 = Math.fround;
  const { rewardBias, rewardScale, crashPenalty, crashThreshold } = world.params;
  const trueWeights = Object.values(weights).map((weight, k) => f32(weight + rewardBias[k]));
  const half = steps.slice(first, first + 14).map(({ delta, meters }) => {
    const terms = trueWeights.map((weight, k) => f32(weight * delta[k]));
    const low = meters.filter((meter) => meter < crashThreshold).length;
    return f32(f32(rewardScale * terms.reduce((sum, term) => f32(sum + term))) - f32(crashPenalty * low));
  });
  return f32(half.reduce((sum, reward) => f32(sum + reward)) * f32(1 / 14));
}

function expectFinal(result: StepResult, episode: GoldenEpisode): void {
  const { final } = episode;
  expect(Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, result.components[k]]))).toEqual(
    Object.fromEntries(COMPONENT_NAMES.map((name) => [name, final[name]])),
  );
  expect(result.beliefMae[0]).toBe(final.belief_mae);
  expect(result.finalScores[0]).toBe(final.final_score);
  expect([result.earlyMeans[0], result.lateMeans[0]]).toEqual([halfMean(episode, 0), halfMean(episode, 14)]);
}
