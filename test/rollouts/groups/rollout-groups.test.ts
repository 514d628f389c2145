/** Compares rollouts in groups with single episodes, step by step, from seeds, snapshots and environments. */
import { describe, expect, it } from 'vitest';
import { randomAction } from '../../../src/engine/reference/baselines.js';
import {
  createVecEnv,
  Episode,
  RHYTHM,
  type RolloutGroups,
  type RolloutOptions,
  type RolloutPolicy,
  rolloutGroups,
} from '../../../src/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import { reportAbsentEngines, TWO_ENGINES } from '../../support/engines.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';
import { advanceToStops, type EpisodeStart, expectAllReplayed, rowOf } from '../../support/rollouts.js';

const STEPS = Array.from({ length: NUM_STEPS }, (_, t) => t);

const sequencesOf = ({ actions }: RolloutGroups): string[] =>
  Array.from({ length: actions.length / NUM_STEPS }, (_, i) => rowOf(actions, i, NUM_STEPS).join());

const SEEDS = [7, 0, 4_294_967_295];
const PROFILES = ['sampled', 'introvert_morning', 'discrete'];
const BEGINNINGS: EpisodeStart[] = SEEDS.map(
  (seed, g) => () => new Episode().reset(seed, { profile: PROFILES[g], grader: 'v1' }),
);
const FROM_SEEDS = { seeds: SEEDS, profiles: PROFILES, grader: 'v1', groupSize: 4 };

/** A policy with random actions, beliefs in some rows, and log-probabilities. It returns some outputs as promises. */
function anyPolicy(random: Random): RolloutPolicy {
  return (view) => {
    const n = view.steps.length;
    const actions = Uint8Array.from(view.playing, (plays) =>
      plays ? random.integer(0, NUM_ACTIONS - 1) : 255,
    );
    const { beliefs } = random.beliefs(n, 0.6);
    const output = { actions, beliefs, logProbs: Float32Array.from(actions, () => random.real(-9, 0)) };
    return random.chance(0.5) ? output : Promise.resolve(output);
  };
}

describe.each(TWO_ENGINES)('$name', ({ backend, kernel }) => {
  const on = { backend, kernel };

  it.each(['random', 'heuristic'] as const)(
    'plays the policy %s from seeds and from later steps',
    async (policy) => {
      const rollouts = await rolloutGroups({ ...on, ...FROM_SEEDS, policy });
      expectAllReplayed(rollouts, BEGINNINGS);
      using env = createVecEnv({ numEnvs: 12, ...on });
      env.reset({
        seed: SEEDS.flatMap((seed) => Array(4).fill(seed)),
        profiles: PROFILES.flatMap((name) => Array(4).fill(name)),
      });
      const policySeeds = policy === 'random' ? Array.from({ length: 12 }, (_, i) => i % 4) : undefined;
      const { trajectory } = env.run(policy, { trajectory: true, policySeeds });
      expect(rollouts.actions).toEqual(trajectory!.actions);
      expect(rollouts.logProbs).toBeNull();
      using source = createVecEnv({ numEnvs: 4, ...on });
      const beginnings = advanceToStops(source);
      const from = { source, indices: [0, 1, 2, 3] };
      expectAllReplayed(await rolloutGroups({ kernel, from, groupSize: 1, policy }), beginnings);
    },
  );

  it('plays a policy function from seeds', async () => {
    const rollouts = await rolloutGroups({ ...on, ...FROM_SEEDS, policy: anyPolicy(new Random('policy')) });
    expectAllReplayed(rollouts, BEGINNINGS);
    expect(rollouts.beliefs.some(Number.isNaN)).toBe(true);
    expect(rollouts.beliefs.some((number) => number < 0)).toBe(true);
    expect(rollouts.logProbs!.every((number) => number < 0)).toBe(true);
  });

  it.each(['disabled', 'same-step', 'next-step'] as const)(
    'plays from environments with autoreset %s',
    async (autoreset) => {
      const options = { observation: { history: true }, layout: 'column-major', autoreset } as const;
      using source = createVecEnv({ numEnvs: 4, ...on, ...options });
      const beginnings = advanceToStops(source);
      const before = source.snapshot();
      const indices = [2, 0, 2, 1, 3];
      const policy = anyPolicy(new Random('ragged'));
      const rollouts = await rolloutGroups({ kernel, from: { source, indices }, groupSize: 2, policy });
      expectAllReplayed(
        rollouts,
        indices.map((index) => beginnings[index]),
      );
      expect(new Set(rollouts.firstSteps)).toEqual(new Set([5, 0, 27, NUM_STEPS]));
      expect(source.snapshot()).toEqual(before);
      const samePolicy = anyPolicy(new Random('ragged'));
      const copies = await rolloutGroups({ ...on, from: before, groupSize: 1, policy: samePolicy });
      expectAllReplayed(copies, beginnings);
    },
  );
});

describe('engines', () => {
  reportAbsentEngines();

  it('give the same results, with different numbers of threads and when repeated', async () => {
    const results = [];
    for (const { backend, kernel } of [...TWO_ENGINES, TWO_ENGINES[0]]) {
      const on: Partial<RolloutOptions> = { backend, kernel, threads: 1 + (results.length % 3) };
      const policy = anyPolicy(new Random('alike'));
      results.push([
        await rolloutGroups({ ...on, ...FROM_SEEDS, policy }),
        await rolloutGroups({ ...on, ...FROM_SEEDS, policy: 'random', gamma: 0.9 }),
      ]);
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});

describe('members of a group', () => {
  const random = (policySeeds?: RolloutOptions['policySeeds']) =>
    rolloutGroups({ seeds: [1, 2, 1], groupSize: 5, policy: 'random', policySeeds });

  it('have different policy seeds; groups with the same seed have the same actions', async () => {
    const sequences = sequencesOf(await random());
    // Two different seeds, with five members each.
    expect(new Set(sequences).size).toBe(10);
    expect(sequences.slice(10)).toEqual(sequences.slice(0, 5));
    const { params } = createWorld();
    // Member 3 of the group with seed 2.
    expect(sequences[8]).toBe(STEPS.map((t) => randomAction(params, 2, t, 3)).join());
  });

  it('take the same actions with a common policy seed', async () => {
    const [zero, nine] = [sequencesOf(await random(0)), sequencesOf(await random(9))];
    expect(new Set(zero).size).toBe(2);
    expect(new Set([...zero, ...nine]).size).toBe(4);
    // By default, member 0 of each group has the policy seed 0.
    expect(zero[0]).toBe(sequencesOf(await random())[0]);
  });
});

describe('returns to go', () => {
  it.each([undefined, 0, 0.99])('are discounted by gamma %s', async (gamma) => {
    const policy = 'heuristic';
    const { rewards, returns } = await rolloutGroups({ ...FROM_SEEDS, policy, gamma });
    for (let i = 0; i < rewards.length; i += NUM_STEPS) {
      let sum = 0;
      for (let at = i + NUM_STEPS - 1; at >= i; at--) {
        sum = rewards[at] + (gamma ?? 1) * sum;
        expect(returns[at]).toBe(Math.fround(sum));
      }
    }
  });
});

describe('rolloutGroups', () => {
  it('continues environments with imagination to the same scores as `run`', async () => {
    using source = createVecEnv({ numEnvs: 2, imagination: true });
    source.reset({ seed: 1 });
    const [from, bytes] = [{ source, indices: [0, 1] }, source.snapshot()];
    const options = { groupSize: 1, policy: 'heuristic' } as const;
    const rollouts = await rolloutGroups({ ...options, from });
    expect(await rolloutGroups({ ...options, from: bytes })).toEqual(rollouts);
    const notImagined = await rolloutGroups({ ...options, seeds: [1, 2] });
    expect(rollouts.finalScores).not.toEqual(notImagined.finalScores);
    expect(rollouts.finalScores).toEqual(source.run('heuristic').finalScores);
  });

  it('plays in a changed world, from seeds, snapshots and environments', async () => {
    const world = structuredClone(RHYTHM);
    world.constants.crashThreshold *= 2;
    using source = createVecEnv({ numEnvs: 2, world });
    source.reset({ seed: 1 });
    const options = { groupSize: 1, policy: 'heuristic' } as const;
    const rollouts = await rolloutGroups({ ...options, seeds: [1, 2], world });
    const from = source.snapshot();
    expect(await rolloutGroups({ ...options, from: { source, indices: [0, 1] } })).toEqual(rollouts);
    expect(await rolloutGroups({ ...options, from, world })).toEqual(rollouts);
    await expectRejection(rolloutGroups({ ...options, from }), 'bad_snapshot', 'world');
  });

  it('returns a frozen object whose arrays share no memory', async () => {
    const rollouts = await rolloutGroups({ seeds: [1], groupSize: 1, policy: 'heuristic' });
    expect(Object.isFrozen(rollouts)).toBe(true);
    const arrays = Object.values(rollouts).filter((each) => ArrayBuffer.isView(each));
    expect(new Set(arrays.map(({ buffer }) => buffer)).size).toBe(arrays.length);
    for (const { byteLength, buffer } of arrays) expect(byteLength).toBe(buffer.byteLength);
  });
});
