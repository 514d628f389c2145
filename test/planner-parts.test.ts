/** What a planner is made of: what it notes of episodes, what it wants of weeks, how it searches them. */
import { describe, expect, it } from 'vitest';
import { createVecEnv, createWorld, Episode, graderWeights, type Objective } from '../src/index.js';
import { deliberate } from '../src/policies/planner/deliberation.js';
import { Imagination } from '../src/policies/planner/imagination.js';
import { Prior } from '../src/policies/planner/knowledge.js';
import { Rehearsal } from '../src/policies/planner/rehearsal.js';
import { Tracks } from '../src/policies/planner/tracks.js';
import { threefry } from '../src/reference/threefry.js';
import { trialOf } from '../src/search/scorer.js';

const world = createWorld();
const grader = graderWeights('v2');
const LUCK = 0x4c55434b;
const everybody = new Uint8Array(1).fill(1);

/** An episode that took so many random steps, and what was noted of it. */
function watched(seed: number, steps: number): { episode: Episode; tracks: Tracks } {
  const episode = new Episode().reset(seed);
  const tracks = new Tracks(1, world.params);
  const seen = new Float32Array(22);
  for (let step = 0; ; step++) {
    episode.observe(seen);
    tracks.see(seen, everybody);
    if (step === steps) return { episode, tracks };
    episode.step((seed + 3 * step) % 10);
  }
}

describe('what is noted of an episode', () => {
  it.each([0, 1, 13, 14, 15, 27])('suffices to go on from step %d as if it had been lived', (steps) => {
    const { episode, tracks } = watched(77, steps);
    expect(tracks.steps[0]).toBe(steps);
    expect([...tracks.meters]).toEqual([...episode.meters]);
    expect(tracks.crashes(0)).toBe(episode.crashes);
    expect(tracks.rewards(0, 0, episode.weights, 0)).toBeCloseTo(episode.early, 5);
    expect(tracks.rewards(0, 1, episode.weights, 0)).toBeCloseTo(episode.late, 5);
  });

  it('is forgotten when another episode begins', () => {
    const { tracks } = watched(77, 20);
    const seen = new Float32Array(22);
    new Episode().reset(1).observe(seen);
    tracks.see(seen, everybody);
    expect([tracks.steps[0], tracks.crashes(0), tracks.weighed(0, new Float32Array(5).fill(1), 0)]).toEqual([
      0, 0, 0,
    ]);
  });
});

/** Scores of tapes for one episode, over so many people. */
function scoresOf(
  objective: Objective,
  tracks: Tracks,
  step: number,
  tapes: Uint8Array,
  people: Float32Array,
) {
  const starts = people.length / 16;
  using imagination = new Imagination({
    ...{ world, backend: undefined, kernel: undefined, threads: 1, problems: 1, starts },
    ...{ objective, grader, seed: 9, most: tapes.length / 28 },
  });
  imagination.begin(step, [0], tracks, people);
  const trial = trialOf(0, tapes);
  imagination.play([trial]);
  return trial.scores;
}

/** What a week comes to that goes on with this person, this luck and this tape, lived in the reference. */
function lived(
  objective: Objective,
  { episode }: ReturnType<typeof watched>,
  profile: Float32Array,
  luck: number,
  tape: Uint8Array,
): number {
  using env = createVecEnv({ numEnvs: 1, imagination: true, backend: 'reference' });
  const tracks = watched(77, episode.stepCount).tracks;
  const weights = profile.subarray(11);
  const first = episode.stepCount;
  env.reset({
    ...{ seed: luck, profiles: profile },
    start: {
      ...{ steps: first, meters: episode.meters, crashes: [episode.crashes] },
      ...{ early: [tracks.rewards(0, 0, weights, 0)], late: [tracks.rewards(0, 1, weights, 0)] },
    },
  });
  const { finalScores, components, trajectory } = env.run(tape, { trajectory: true });
  if (objective === 'score') return finalScores[0];
  let mean = 0;
  const before = new Episode().reset(77);
  for (let step = 0; step < 28; step++) {
    if (step < first) before.step((77 + 3 * step) % 10);
    const meters = step < first ? before.meters : trajectory!.meters.subarray(5 * step, 5 * step + 5);
    for (let k = 0; k < 5; k++) mean += (weights[k] * meters[k]) / 28;
  }
  return 0.5 * mean + (0.5 * (finalScores[0] - grader[3] * components[3])) / (1 - grader[3]);
}

describe.each(['score', 'wellbeing'] as const)('what a tape comes to, for %s', (objective) => {
  it.each([0, 9, 14, 20])('is the mean over people and luck, from step %d', (step) => {
    const week = watched(77, step);
    const people = new Prior(1, world.params, 4).people(3);
    const tapes = Uint8Array.from({ length: 2 * 28 }, (_, k) => (k * 7) % 10);
    const scores = scoresOf(objective, week.tracks, step, tapes, people);
    for (const tape of [0, 1]) {
      const expected = [0, 1, 2].map((k) => {
        const { x0 } = threefry(9, LUCK, step, k, { x0: 0, x1: 0 });
        const profile = people.slice(16 * k, 16 * (k + 1));
        return lived(objective, week, profile, x0, tapes.subarray(28 * tape, 28 * (tape + 1)));
      });
      expect(scores[tape]).toBeCloseTo(expected.reduce((sum, each) => sum + each) / 3, 6);
    }
  });
});

describe('a search', () => {
  const people = new Prior(1, world.params, 4).people(8);
  const budget = { people: 8, candidates: 16, rounds: 3 };
  const search = (step: number, curiosity = new Float64Array(10)) => {
    const { tracks } = watched(77, step);
    using imagination = new Imagination({
      ...{ world, backend: undefined, kernel: undefined, threads: 1, problems: 1, starts: 8 },
      ...{ objective: 'score', grader, seed: 9, most: 128 },
    });
    imagination.begin(step, [0], tracks, people);
    return deliberate(imagination, budget, 5, step, [null], [curiosity])[0];
  };

  it('tries everything when two steps are left', () => {
    const { worth, best } = search(26);
    const every = Uint8Array.from({ length: 100 * 28 }, (_, k) => {
      const [tape, step] = [Math.floor(k / 28), k % 28];
      return step === 26 ? Math.floor(tape / 10) : step === 27 ? tape % 10 : 0;
    });
    const scores = scoresOf('score', watched(77, 26).tracks, 26, every, people);
    for (let action = 0; action < 10; action++) {
      const those = scores.slice(10 * action, 10 * (action + 1));
      expect(worth[action]).toBe(Math.max(...those));
      expect(those[best[28 * action + 27]]).toBe(worth[action]);
    }
  });

  it.each([0, 10, 25])(
    'finds a best tape for each first action, and says which are the first two, at step %d',
    (step) => {
      const { worth, best, tapes, action, rival } = search(step);
      expect([...worth].every(Number.isFinite)).toBe(true);
      for (let first = 0; first < 10; first++) expect(best[28 * first + step]).toBe(first);
      expect(worth[action]).toBe(Math.max(...worth));
      expect(worth[rival]).toBe(Math.max(...worth.filter((_, first) => first !== action)));
      expect(tapes[step]).toBe(action);
      expect([...tapes.subarray(0, step)].every((code) => code === 0)).toBe(true);
      const scores = scoresOf('score', watched(77, step).tracks, step, best, people);
      expect([...scores]).toEqual([...worth]);
    },
  );

  it('is drawn to what it is curious about', () => {
    const curiosity = new Float64Array(10);
    curiosity[7] = 1;
    expect(search(10, curiosity).action).toBe(7);
  });
});

it('a rehearsal is the mean of the weeks that are searched', () => {
  const people = new Prior(1, world.params, 4).people(6);
  const { tracks, episode } = watched(77, 10);
  using rehearsal = new Rehearsal({
    world,
    backend: undefined,
    kernel: undefined,
    people: 6,
    seed: 9,
    grader,
  });
  const tape = Uint8Array.from({ length: 28 }, (_, k) => (k * 3) % 10);
  const { meters, components } = rehearsal.play(tape, 10, 0, tracks, people);
  const score = components.reduce((sum, each, k) => sum + each * grader[k], 0);
  expect(score).toBeCloseTo(scoresOf('score', tracks, 10, tape, people)[0], 5);
  expect(components[1]).toBeCloseTo(meters[27 * 5 + 2], 5);
  expect([...meters.subarray(0, 50)].every((meter) => meter === 0)).toBe(true);
  expect(Math.abs(meters[50] - episode.meters[0])).toBeLessThan(0.3);
});
