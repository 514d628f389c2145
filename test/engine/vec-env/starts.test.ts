/** Episodes that begin at a later step continue exactly like episodes that were played up to it. */
import { describe, expect, it } from 'vitest';
import { Episode } from '../../../src/engine/reference/episode.js';
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

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each([false, true])(
    'an episode with a start continues like one played up to it, imagination %s',
    (imagination) => {
      const { episodes, actions } = playEpisodes(new Random(`starts ${engine.name}`), imagination);
      using env = openOn(engine, { numEnvs: N, imagination });
      env.reset(resetTo(episodes));
      const expectEqualHashes = () =>
        expect(Array.from(env.stateHash())).toEqual(episodes.map((episode) => episode.stateHash()));
      expectEqualHashes();
      const result = env.run(actions, { beliefs: [0.1, 0.5, 0.9] });
      episodes.forEach((episode, i) => {
        while (!episode.terminated) episode.step(actions[i * NUM_STEPS + episode.stepCount], [0.1, 0.5, 0.9]);
        const { finalScore, beliefMae, firstHalfMean, secondHalfMean, components } = episode;
        expect(result.finalScores[i]).toBe(finalScore);
        expect(result.components.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS)).toEqual(components);
        const means = [result.beliefMae[i], result.firstHalfMeans[i], result.secondHalfMeans[i]];
        expect(means).toEqual([beliefMae, firstHalfMean, secondHalfMean]);
        expect([result.episodeReturns[i], result.episodeLengths[i]]).toEqual([episode.return, NUM_STEPS]);
      });
      expectEqualHashes();
    },
  );
});

/** A start of half of the environments at a later step, and of the others at step 0. */
const START = {
  steps: Array.from({ length: N }, (_, i) => (i % 2 ? 5 + (i % 20) : 0)),
  meters: new Float32Array(N * NUM_METERS).fill(0.375),
};

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
});
