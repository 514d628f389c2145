/** Episodes that begin at a later step continue exactly like episodes that were played up to it. */
import { describe, expect, it } from 'vitest';
import { Episode } from '../../../src/engine/reference/episode.js';
import { createVecEnv, rolloutGroups, stepAdvantages } from '../../../src/index.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { API_PAIRS } from '../../support/async-envs.js';
import { openOn, reportAbsentEngines, TWO_ENGINES } from '../../support/engines.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

const N = 37;

/** Plays one reference episode per environment up to a random step. The action sequences have all 28 steps. */
function playEpisodes(random: Random, imagination: boolean) {
  const episodes = Array.from({ length: N }, () =>
    new Episode({ imagination }).reset(random.integer(0, 2 ** 32 - 1), { grader: 'v3' }),
  );
  const stops = random.bytes(N, 0, NUM_STEPS - 1);
  const actions = random.bytes(N * NUM_STEPS, 0, NUM_ACTIONS - 1);
  episodes.forEach((episode, i) => {
    while (episode.stepCount < stops[i]) {
      const belief = random.chance(0.3) ? random.beliefs(1, 1).beliefs : null;
      episode.step(actions[i * NUM_STEPS + episode.stepCount], belief);
    }
  });
  return { episodes, stops, actions };
}

/** Returns the options of a reset to the current states of the episodes. */
function resetTo(episodes: readonly Episode[]) {
  const flat = (width: number, of: (episode: Episode) => ArrayLike<number>) => {
    const rows = new Float32Array(N * width);
    episodes.forEach((episode, i) => {
      rows.set(of(episode), i * width);
    });
    return rows;
  };
  return {
    seed: episodes.map((episode) => episode.seed),
    graders: 'v3',
    profiles: flat(PROFILE_SIZE, (episode) => episode.profile),
    start: {
      steps: episodes.map((episode) => episode.stepCount),
      meters: flat(NUM_METERS, (episode) => episode.meters),
      early: flat(1, (episode) => [episode.early]),
      late: flat(1, (episode) => [episode.late]),
      returns: flat(1, (episode) => [episode.return]),
      crashes: Uint8Array.from(episodes, (episode) => episode.crashes),
      well: flat(1, (episode) => [episode.well]),
      skill: flat(1, (episode) => [episode.skill]),
      beliefs: flat(NUM_BELIEFS, ({ belief, given }) =>
        given ? belief : [Number.NaN, Number.NaN, Number.NaN],
      ),
    },
  };
}

for (const engine of TWO_ENGINES) {
  for (const imagination of [false, true]) {
    const setting = `${engine.name}${imagination ? ', imagination' : ''}`;
    it(`an episode with a start continues like an episode that was played up to it: ${setting}`, () => {
      const random = new Random(`starts ${engine.name}`);
      const { episodes, actions } = playEpisodes(random, imagination);
      using env = openOn(engine, { numEnvs: N, imagination });
      const result = env.reset(resetTo(episodes));
      const expectEqualHashes = () =>
        expect(Array.from(env.stateHash())).toEqual(episodes.map((e) => e.stateHash()));
      expectEqualHashes();
      while (episodes.some((episode) => !episode.terminated)) {
        const mask = Uint8Array.from(episodes, ({ terminated }) => Number(!terminated));
        const codes = Uint8Array.from(
          episodes,
          (episode, i) => actions[i * NUM_STEPS + episode.stepCount] ?? 0,
        );
        const belief = random.chance(0.5) ? random.beliefs(N, 1).beliefs : undefined;
        env.step(codes, { mask, beliefs: belief });
        episodes.forEach((episode, i) => {
          if (mask[i] === 0) return;
          const row = new Float32Array(OBSERVATION_SIZE);
          expect(result.rewards[i]).toBe(episode.step(codes[i], belief?.subarray(i * 3, i * 3 + 3) ?? null));
          episode.observe(row);
          expect(result.observations.slice(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE)).toEqual(row);
        });
      }
      expectEqualHashes();
      episodes.forEach((episode, i) => {
        expect(result.finalScores[i]).toBe(episode.finalScore);
        expect(result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS)).toEqual(
          episode.components,
        );
        expect(result.beliefMae[i]).toBe(episode.beliefMae);
        expect(result.firstHalfMeans[i]).toBe(episode.firstHalfMean);
        expect(result.secondHalfMeans[i]).toBe(episode.secondHalfMean);
        expect(result.episodeReturns[i]).toBe(episode.return);
        expect(result.episodeLengths[i]).toBe(NUM_STEPS);
      });
    });
  }
}

/** A start of half of the environments at a later step, and of the others at step 0. */
const START = {
  steps: Array.from({ length: N }, (_, i) => (i % 2 ? 5 + (i % 20) : 0)),
  meters: new Float32Array(N * NUM_METERS).fill(0.375),
};

it('start.late refuses a number instead of an array, and the error shows how to make the array', () => {
  using env = createVecEnv({ numEnvs: 3 });
  const start = { steps: 20, meters: new Float32Array(15).fill(0.5), late: 1 as never };
  expect(() => env.reset({ start })).toThrow(
    'Expected start.late to be an array [numEnvs], got 1. Pass a number for each environment, such as new Float32Array(3).fill(1).',
  );
});

describe.each(TWO_ENGINES)('$name', (engine) => {
  it('history(), observations and trajectories have no steps before the start', () => {
    using env = openOn(engine, { numEnvs: N, observation: { fields: ['last_action'], history: true } });
    using plain = openOn(engine, { numEnvs: N });
    const initial = env.reset({ seed: 7 }).observations.slice();
    const result = env.reset({ seed: 7, start: START });
    plain.reset({ seed: 7, start: START });
    // Missing steps are encoded as at step 0.
    expect(result.observations).toEqual(initial);
    for (let i = 0; i < N; i++) expect(env.history(i, NUM_STEPS)).toEqual([]);
    const stops = START.steps.map((step) => Math.min(step + 3, NUM_STEPS));
    const { trajectory } = env.run('random', { stops, trajectory: true });
    START.steps.forEach((step, i) => {
      const stepsTaken = [step, step + 1, step + 2].slice(0, stops[i] - step);
      expect(env.history(i, NUM_STEPS).map((each) => each.step)).toEqual(stepsTaken);
      const actions = Array.from(trajectory!.actions.subarray(i * NUM_STEPS, (i + 1) * NUM_STEPS));
      expect(actions.flatMap((action, t) => (action < 0 ? [] : [t]))).toEqual(stepsTaken);
      const before = trajectory!.meters.subarray(i * NUM_STEPS * 5, (i * NUM_STEPS + step) * 5);
      expect(before.every((meter) => meter === 0)).toBe(true);
    });
    // The history is recorded during the run, or replayed if the source of a copy records none.
    const recorded = result.observations.slice();
    expect(recorded).not.toEqual(initial);
    plain.run('random', { stops });
    env.reset();
    expect(env.assign(plain, Array.from(START.steps.keys())).observations).toEqual(recorded);
  });

  it('a masked reset reads only the entries of the environments that it resets', () => {
    using env = openOn(engine, { numEnvs: N });
    using control = openOn(engine, { numEnvs: N });
    for (const each of [env, control]) {
      each.reset({ seed: 7 });
      each.run('heuristic', { stops: new Uint8Array(N).fill(20) });
    }
    const mask = Array.from({ length: N }, (_, i) => i % 3 === 1);
    const invalidOutside = <T>(value: T, other: unknown): T[] =>
      mask.map((selected) => (selected ? value : (other as T)));
    const typed = { steps: 4, meters: START.meters, early: new Float32Array(N).fill(2) };
    const mixed = {
      steps: invalidOutside(4, 99),
      meters: mask.flatMap((selected) => Array<number>(NUM_METERS).fill(selected ? 0.375 : (null as never))),
      early: Float32Array.from(invalidOutside(2, Number.NaN)),
      late: invalidOutside(0, 'x'),
      crashes: invalidOutside(0, -1),
      returns: Float64Array.from(invalidOutside(-0, Number.POSITIVE_INFINITY)),
    };
    const [a, b] = [typed, mixed].map((start, k) => [env, control][k].reset({ seed: 9, mask, start }));
    expect(a).toEqual(b);
    expect(env.snapshot()).toEqual(control.snapshot());
    mask.forEach((selected, i) => {
      const row = i * OBSERVATION_SIZE;
      expect(a.observations.slice(row, row + 4)).toEqual(
        Float32Array.from(selected ? [4, 1, 0, 24] : [20, 5, 0, 8]),
      );
    });
    expect(env.counters.steps).toBe(N * 20);
    env.run('heuristic');
    const remaining = mask.reduce((steps, selected) => steps + (selected ? 24 : 8), 0);
    expect(env.counters).toEqual({ steps: N * 20 + remaining, episodes: N });
  });

  it('a reset with start gives the same results with 1 and 4 threads', () => {
    const random = new Random('threads');
    const n = 1000;
    const { early, late, returns, crashes, well, skill, ...rest } = random.starts(n);
    // All arrays of a start: those that were not drawn have the values that `reset` takes by default.
    const start = {
      steps: rest.steps,
      meters: rest.meters,
      early: early ?? new Float32Array(n),
      late: late ?? new Float32Array(n),
      returns: returns ?? new Float32Array(n),
      crashes: crashes ?? new Uint8Array(n),
      well: well ?? new Float32Array(n),
      skill: skill ?? new Float32Array(n),
      beliefs:
        rest.beliefs?.map((x, at) => (rest.given?.[Math.floor(at / 3)] ? x : Number.NaN)) ??
        new Float32Array(3 * n).fill(Number.NaN),
    };
    const [one, several] = [1, 4].map((threads) => {
      using env = openOn(engine, { numEnvs: n, threads });
      env.reset({ seed: 1, start });
      env.run('random', { beliefs: [0.1, 0.5, 0.9] });
      return env.snapshot();
    });
    expect(one).toEqual(several);
  });

  it('reset accepts a start.skill of 0, that of an episode without beliefs, in a world with another beliefSkillScale', () => {
    const world = structuredClone(RHYTHM);
    world.constants.beliefSkillScale = 0.5;
    using env = openOn(engine, { numEnvs: 1, world });
    env.reset({ seed: 1 });
    env.run('heuristic', { stops: [12] });
    const bytes = env.snapshot();
    env.restore(bytes);
    env.reset({ seed: 1, start: { steps: 12, meters: new Array(NUM_METERS).fill(0.5), skill: [0] } });
    // The reset has taken place.
    expect(env.snapshot()).not.toEqual(bytes);
  });

  it('restore accepts the snapshot of an episode that began with start.skill at its bound', () => {
    using env = openOn(engine, { numEnvs: 1 });
    env.reset({ seed: 100 });
    const beliefs = env.beliefTargets();
    // After 9 steps the bound is 1.01: one term of at most 1, plus SKILL_ROUNDING.start (sum-bounds.ts). The largest float32
    // that is not higher:
    const skill = Float32Array.of(1.01);
    if (skill[0] > 1.01) skill[0] -= 2 ** -23;
    env.reset({ seed: 100, start: { steps: 9, meters: new Array(NUM_METERS).fill(0.5), skill, beliefs } });
    env.run('heuristic', { stops: [12] });
    env.restore(env.snapshot());
  });

  it('start.well may be negative if a named profile of the world has negative weights', () => {
    const world = structuredClone(RHYTHM);
    for (const profile of Object.values(world.profiles)) profile.weights = [-1, 2, 0, 0, 0];
    using env = openOn(engine, { numEnvs: 1, world });
    const start = { steps: 10, meters: new Array(NUM_METERS).fill(0.5), well: [-3] };
    env.reset({ seed: 1, profiles: 'discrete', start });
    env.restore(env.snapshot());
  });

  it('copies and restored states have the same first step; the next episode begins at step 0', () => {
    using env = openOn(engine, { numEnvs: N, autoreset: 'same-step' });
    env.reset({ seed: 7, start: START });
    env.run('random', { stops: START.steps.map((step) => step + 2) });
    const histories = START.steps.map((_, i) => env.history(i, NUM_STEPS));
    const bytes = env.snapshot();
    using fork = env.fork([3, 1, 1]);
    using other = openOn(TWO_ENGINES[0], { numEnvs: N, autoreset: 'same-step' });
    const restored = other.restore(bytes);
    expect(restored).toEqual(env.assign(env, Array.from(START.steps.keys())));
    expect(other.snapshot()).toEqual(bytes);
    expect([0, 1, 2].map((i) => fork.history(i, NUM_STEPS))).toEqual([3, 1, 1].map((i) => histories[i]));
    expect(START.steps.map((_, i) => other.history(i, NUM_STEPS))).toEqual(histories);
    for (let t = 0; t < NUM_STEPS; t++) env.step(new Uint8Array(N));
    START.steps.forEach((step, i) => {
      expect(env.episodeNumbers[i]).toBe(1);
      expect(env.history(i, NUM_STEPS).map((each) => each.step)).toEqual(
        Array.from({ length: step + 2 }, (_, t) => t),
      );
    });
  });

  it('rollouts in groups begin at the first steps of their episodes, and advantages of earlier steps are 0', async () => {
    using env = openOn(engine, { numEnvs: 2 });
    env.reset({
      seed: [5, 6],
      start: { steps: [9, 20], meters: new Float32Array(10).fill(0.5), early: [1, 2] },
    });
    const rollouts = await rolloutGroups({
      from: { source: env, indices: [0, 1] },
      groupSize: 3,
      policy: 'random',
    });
    expect(Array.from(rollouts.firstSteps)).toEqual([9, 9, 9, 20, 20, 20]);
    const { advantages, anchorSizes } = stepAdvantages(rollouts);
    rollouts.firstSteps.forEach((first, i) => {
      const row = i * NUM_STEPS;
      expect(rollouts.actions.subarray(row, row + first).every((action) => action === -1)).toBe(true);
      expect(advantages.subarray(row, row + first).every((advantage) => advantage === 0)).toBe(true);
      expect(anchorSizes[row + first]).toBe(3);
    });
  });
});

describe.each(API_PAIRS)('$name, asynchronous', ({ open, openSync }) => {
  it('a reset copies the arrays of its start before it returns', async () => {
    const random = new Random('awaited');
    const { episodes } = playEpisodes(random, false);
    const reset = resetTo(episodes);
    await using env = await open({ numEnvs: N });
    using control = openSync({ numEnvs: N });
    const expected = control.reset(structuredClone(reset));
    const pending = env.reset(reset);
    reset.start.meters.fill(0);
    reset.start.steps.fill(1);
    reset.start.crashes.fill(0);
    expect(await pending).toEqual(expected);
    expect(await env.run('random')).toEqual(control.run('random'));
    await expect(env.reset({ start: { steps: 28, meters: [] } })).rejects.toThrow('start.steps');
  });
});
