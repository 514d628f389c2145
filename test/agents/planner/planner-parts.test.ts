/** The parts of the planner: sums of episodes, objectives, plan search and plan evaluation. */
import { describe, expect, it, vi } from 'vitest';
import { priorState } from '../../../src/agents/planner/belief-state.js';
import { EpisodeSums } from '../../../src/agents/planner/episode-sums.js';
import { Imagination, ImaginedStarts } from '../../../src/agents/planner/imagination.js';
import { OBJECTIVES, valuePerBeliefError } from '../../../src/agents/planner/objectives.js';
import {
  maxSequencesOf,
  openLoopSequencesUnder,
  searchPlans,
} from '../../../src/agents/planner/plan-search.js';
import { openLoopActions } from '../../../src/agents/policies/open-loop.js';
import { trialOf } from '../../../src/agents/search/scorer.js';
import { NODE } from '../../../src/engine/backends/node.js';
import { openSyncBatch } from '../../../src/engine/backends/open-batch.js';
import { runSync } from '../../../src/engine/engine-calls.js';
import { beliefTarget, sampleProfile } from '../../../src/engine/reference/profile.js';
import { threefry } from '../../../src/engine/reference/threefry.js';
import { createVecEnv, createWorld, Episode, graderWeights, type Objective } from '../../../src/index.js';
import { COMPONENT_NAMES, OBSERVATION } from '../../../src/world/fields.js';

const world = createWorld();
const grader = graderWeights('v2');
/** The stream of Threefry that draws the seeds of imagined episodes: "LUCK" in ASCII. */
const SEED_STREAM = 0x4c55434b;
/** The stream of Threefry that draws the profiles of the prior: "PEOP" in ASCII. */
const PROFILE_STREAM = 0x50454f50;
const playing = new Uint8Array(1).fill(1);

/** Plays `steps` steps and records the observations. */
function playSteps(seed: number, steps: number): { episode: Episode; sums: EpisodeSums } {
  const episode = new Episode().reset(seed);
  const sums = new EpisodeSums(1, world.params);
  const observation = new Float32Array(22);
  for (let step = 0; ; step++) {
    episode.observe(observation);
    sums.record(observation, playing);
    if (step === steps) return { episode, sums };
    episode.step((seed + 3 * step) % 10);
  }
}

describe('the sums of an episode', () => {
  it.each([0, 1, 13, 14, 15, 27])('equal the state and the sums of the reference at step %d', (steps) => {
    const { episode, sums } = playSteps(77, steps);
    expect(sums.steps[0]).toBe(steps);
    expect([...sums.meters]).toEqual([...episode.meters]);
    expect(sums.numCrashes(0)).toBe(episode.crashes);
    expect(sums.rewardSum(0, 0, episode.weights, 0)).toBeCloseTo(episode.early, 5);
    expect(sums.rewardSum(0, 1, episode.weights, 0)).toBeCloseTo(episode.late, 5);
  });

  /** Records `steps` steps after which all meters are at `meter`. */
  function sumsAfter(steps: number, meter: number): EpisodeSums {
    const sums = new EpisodeSums(1, world.params);
    for (let step = 0; step <= steps; step++) {
      const observation = new Float32Array(22).fill(meter, OBSERVATION.meters, OBSERVATION.meters + 5);
      observation[OBSERVATION.step] = step;
      sums.record(observation, playing);
    }
    return sums;
  }

  it('count meters below the crash threshold in both halves, and count from 0 in another episode', () => {
    expect(sumsAfter(20, world.params.crashThreshold).numCrashes(0)).toBe(0);
    const sums = sumsAfter(20, 0);
    expect(sums.numCrashes(0)).toBe(5 * 20);
    sums.record(new Float32Array(22), playing);
    expect(sums.numCrashes(0)).toBe(0);
  });

  it('refuse a finished episode', () => {
    expect(sumsAfter(27, 0.5).steps[0]).toBe(27);
    expect(() => sumsAfter(28, 0.5)).toThrow(/^Expected step 0 in row 0 of observations, got 28\./);
  });
});

describe('the sums of an episode with beliefs', () => {
  /** Plays `steps` steps, and states a belief at each. */
  function playWithBeliefs(steps: number) {
    const episode = new Episode().reset(77);
    const sums = new EpisodeSums(1, world.params);
    const observation = new Float32Array(22);
    for (let step = 0; ; step++) {
      episode.observe(observation);
      sums.record(observation, playing);
      const belief = Float32Array.of(step / 28, 0.3, 1 - step / 56);
      sums.recordBeliefs(belief, playing);
      if (step === steps) return { episode, sums };
      episode.step((77 + 3 * step) % 10, belief);
    }
  }

  it.each([0, 7, 8, 9, 20, 27])('equal the skill and the wellbeing of the reference at step %d', (steps) => {
    const { episode, sums } = playWithBeliefs(steps);
    const target = new Float32Array(3);
    beliefTarget(world.params, episode.profile, target);
    expect(sums.skillSum(0, target)).toBeCloseTo(episode.skill, 4);
    expect(sums.weightedMeterSum(0, episode.weights, 0)).toBeCloseTo(episode.well, 5);
  });

  it('set the skill and the beliefs of imagined starts only if the grader weighs belief_skill', () => {
    const { episode, sums } = playWithBeliefs(15);
    const startOf = (grader: string) => {
      const starts = new ImaginedStarts(world.params, 1, 2, 9, graderWeights(grader));
      starts.write(15, [0], sums, Float32Array.from([...episode.profile, ...episode.profile]));
      return starts.reset.start;
    };
    const { well, skill, beliefs, given } = startOf('v3');
    expect(well![1]).toBeCloseTo(episode.well, 5);
    expect(skill![1]).toBeCloseTo(episode.skill, 4);
    expect([...beliefs!.subarray(3)]).toEqual([...sums.beliefs]);
    expect([...given!]).toEqual([1, 1]);
    expect(startOf('v2')).toMatchObject({ skill: null, beliefs: null, given: null });
  });

  it('do not change in environments that are not playing', () => {
    const { sums } = playWithBeliefs(3);
    const before = sums.beliefs.slice();
    sums.recordBeliefs(new Float32Array(3), new Uint8Array(1));
    expect(sums.beliefs).toEqual(before);
  });

  it('are reset when another episode begins', () => {
    const { sums } = playWithBeliefs(20);
    const observation = new Float32Array(22);
    new Episode().reset(1).observe(observation);
    sums.record(observation, playing);
    expect([sums.steps[0], sums.skillSum(0, Float32Array.of(0, 0.5, 1))]).toEqual([0, 0]);
    expect(sums.weightedMeterSum(0, new Float32Array(5).fill(1), 0)).toBe(0);
  });
});

const openImagination = (numStarts: number, maxSequences: number, options: object = {}) =>
  runSync(
    Imagination.open(
      {
        ...{
          platform: NODE,
          world,
          backend: undefined,
          kernel: undefined,
          threads: 1,
          numProblems: 1,
          seed: 9,
        },
        ...{ objective: 'score', grader, numStarts, maxSequences, ...options },
      },
      openSyncBatch,
    ),
  );

/** Returns the scores of action sequences for one episode, with these profiles. */
function scoresOf(
  objective: Objective,
  sums: EpisodeSums,
  step: number,
  sequences: Uint8Array,
  profiles: Float32Array,
) {
  const starts = profiles.length / 16;
  using imagination = openImagination(starts, sequences.length / 28, { objective });
  imagination.begin(step, [0], sums, profiles);
  const trial = trialOf(0, sequences);
  runSync(imagination.play([trial]));
  return trial.scores;
}

/** Continues an episode on the reference with a profile, a noise seed and an action sequence, and returns its value. */
function playReference(
  objective: Objective,
  { episode }: ReturnType<typeof playSteps>,
  profile: Float32Array,
  seed: number,
  sequence: Uint8Array,
): number {
  using env = createVecEnv({ numEnvs: 1, imagination: true, backend: 'reference' });
  const sums = playSteps(77, episode.stepCount).sums;
  const weights = profile.subarray(11);
  const first = episode.stepCount;
  env.reset({
    seed: seed,
    profiles: profile,
    start: {
      steps: first,
      meters: episode.meters,
      crashes: [episode.crashes],
      early: [sums.rewardSum(0, 0, weights, 0)],
      late: [sums.rewardSum(0, 1, weights, 0)],
    },
  });
  const { finalScores, components, trajectory } = env.run(sequence, { trajectory: true });
  if (objective === 'score') return finalScores[0];
  let mean = 0;
  const before = new Episode().reset(77);
  for (let step = 0; step < 28; step++) {
    if (step < first) before.step((77 + 3 * step) % 10);
    const meters = step < first ? before.meters : trajectory!.meters.subarray(5 * step, 5 * step + 5);
    for (let k = 0; k < 5; k++) mean += (weights[k] * meters[k]) / 28;
  }
  // The grade without `adaptation`.
  const adaptation = COMPONENT_NAMES.indexOf('adaptation');
  const others = finalScores[0] - grader[adaptation] * components[adaptation];
  return 0.5 * mean + (0.5 * others) / (1 - grader[adaptation]);
}

describe.each(['score', 'wellbeing'] as const)('the value of an action sequence, for %s', (objective) => {
  it.each([0, 9, 14, 20])('is the mean over profiles and noise, from step %d', (step) => {
    const start = playSteps(77, step);
    const profiles = priorState(1, world, 4).posteriorSamples(3);
    const sequences = Uint8Array.from({ length: 2 * 28 }, (_, k) => (k * 7) % 10);
    const scores = scoresOf(objective, start.sums, step, sequences, profiles);
    for (const sequence of [0, 1]) {
      const expected = [0, 1, 2].map((k) => {
        const { x0 } = threefry(9, SEED_STREAM, step, k, { x0: 0, x1: 0 });
        const profile = profiles.slice(16 * k, 16 * (k + 1));
        return playReference(
          objective,
          start,
          profile,
          x0,
          sequences.subarray(28 * sequence, 28 * (sequence + 1)),
        );
      });
      expect(scores[sequence]).toBeCloseTo(expected.reduce((sum, each) => sum + each) / 3, 6);
    }
  });
});

it.each([
  ['score', 3],
  ['score', 20],
  ['wellbeing', 64],
] as const)(
  '%s: `screen` with at most 8 of %i samples, then `complete`, gives the scores of `play` with all samples',
  (objective, starts) => {
    const { sums } = playSteps(77, 10);
    const profiles = priorState(1, world, 4).posteriorSamples(starts);
    const sequences = Uint8Array.from({ length: 5 * 28 }, (_, k) => (k * 7 + Math.floor(k / 8)) % 10);
    using imagination = openImagination(starts, 5, { objective });
    imagination.begin(10, [0], sums, profiles);
    const trial = trialOf(0, sequences);
    runSync(imagination.screen([trial]));
    const screened = trial.scores.slice();
    runSync(imagination.complete([trial]));
    const all = scoresOf(objective, sums, 10, sequences, profiles);
    expect(trial.scores).toEqual(all);
    if (starts <= 8) expect(screened).toEqual(all);
    else expect(screened).not.toEqual(all);
  },
);

it('the prior draws profiles from its seed, the same profiles for every environment', () => {
  const profiles = priorState(2, world, 4).posteriorSamples(3);
  const expected = [0, 1, 2].flatMap((k) => {
    const { x0 } = threefry(4, PROFILE_STREAM, k, 0, { x0: 0, x1: 0 });
    const profile = new Float32Array(16);
    sampleProfile(world.params, x0, profile);
    return [...profile];
  });
  expect([...profiles]).toEqual([...expected, ...expected]);
});

describe('a search', () => {
  const profiles = priorState(1, world, 4).posteriorSamples(16);
  const onlySeven = Float64Array.from({ length: 10 }, (_, action) => Number(action === 7));
  /** A grader that pays for no action. */
  const indifferent = Float32Array.from(COMPONENT_NAMES, (name) => Number(name === 'belief_accuracy'));

  /** Searches one step. Also returns the number of rounds. */
  function search(
    step: number,
    { informationValues = new Float64Array(10), weights = grader, candidates = 16, rounds = 3 } = {},
  ) {
    const budget = { samples: 16, candidates, rounds };
    using imagination = openImagination(16, maxSequencesOf(budget), { grader: weights });
    const screen = vi.spyOn(imagination, 'screen');
    imagination.begin(step, [0], playSteps(77, step).sums, profiles);
    const openLoop = openLoopSequencesUnder(weights);
    const [choice] = runSync(
      searchPlans(imagination, budget, 5, step, [null], [informationValues], openLoop),
    );
    return { ...choice, rounds: screen.mock.calls.length };
  }

  it('begins with the sequences of v2 and v1, and with that of v3 under graders that need it', () => {
    expect(openLoopSequencesUnder(grader)).toEqual(['v2', 'v1'].map(openLoopActions));
    expect(openLoopSequencesUnder(graderWeights('v3'))).toEqual(['v3', 'v2', 'v1'].map(openLoopActions));
  });

  it.each([1, 3, 4, 100, 400])('keeps a quarter of %d candidates, but at least one', (candidates) => {
    const { sequences } = search(0, { candidates, rounds: 1 });
    expect(sequences.length / 28).toBe(Math.max(1, Math.floor(candidates / 4)));
  });

  it('stops after six rounds if one first action is clearly the best, and else after all rounds', () => {
    const informationValues = onlySeven;
    expect(search(10, { rounds: 9, informationValues }).rounds).toBe(6);
    expect(search(10, { rounds: 5, informationValues }).rounds).toBe(5);
    expect(search(10, { rounds: 9, weights: indifferent }).rounds).toBe(9);
  });

  it('chooses the first of equally good sequences', () => {
    const { values, best, action, rivalAction } = search(26, { weights: indifferent });
    expect(new Set(values).size).toBe(1);
    expect([action, rivalAction]).toEqual([0, 1]);
    for (let first = 0; first < 10; first++) expect(best[28 * first + 27]).toBe(0);
  });

  it('evaluates all sequences when two steps are left, without rounds', () => {
    const { values, best, rounds } = search(26);
    expect(rounds).toBe(0);
    const every = Uint8Array.from({ length: 100 * 28 }, (_, k) => {
      const [sequence, step] = [Math.floor(k / 28), k % 28];
      return step === 26 ? Math.floor(sequence / 10) : step === 27 ? sequence % 10 : 0;
    });
    const scores = scoresOf('score', playSteps(77, 26).sums, 26, every, profiles);
    for (let action = 0; action < 10; action++) {
      const actionScores = scores.slice(10 * action, 10 * (action + 1));
      expect(values[action]).toBe(Math.max(...actionScores));
      expect(actionScores[best[28 * action + 27]]).toBe(values[action]);
    }
  });

  it.each([0, 10, 25])(
    'returns the best sequence for each first action, and the two best first actions, at step %d',
    (step) => {
      const { values, best, sequences, action, rivalAction } = search(step);
      expect([...values].every(Number.isFinite)).toBe(true);
      for (let first = 0; first < 10; first++) expect(best[28 * first + step]).toBe(first);
      expect(values[action]).toBe(Math.max(...values));
      expect(values[rivalAction]).toBe(Math.max(...values.filter((_, first) => first !== action)));
      expect(sequences[step]).toBe(action);
      expect([...sequences.subarray(0, step)].every((code) => code === 0)).toBe(true);
      const scores = scoresOf('score', playSteps(77, step).sums, step, best, profiles);
      expect([...scores]).toEqual([...values]);
    },
  );

  it('adds the value of information to the value of each first action', () => {
    expect(search(10, { informationValues: onlySeven }).action).toBe(7);
  });
});

it('imagined starts are reset only for the requested episodes', () => {
  const starts = new ImaginedStarts(world.params, 2, 3, 9, grader);
  const { sums } = playSteps(77, 4);
  const profiles = priorState(1, world, 4).posteriorSamples(6);
  starts.write(4, [0, 0], sums, profiles);
  expect([...starts.reset.mask]).toEqual([1, 1, 1, 1, 1, 1]);
  starts.write(4, [0], sums, profiles);
  expect([...starts.reset.mask]).toEqual([1, 1, 1, 0, 0, 0]);
  expect([...starts.reset.start.steps]).toEqual([4, 4, 4, 4, 4, 4]);
});

describe('the value of a smaller belief error', () => {
  const graderOf = (name: string) => Float32Array.from(COMPONENT_NAMES, (each) => Number(each === name));
  const values = (name: string, step = 3) =>
    OBJECTIVES.map((objective) => valuePerBeliefError(objective, graderOf(name), world.params, step));

  it('counts the last belief for belief_accuracy, and is 0 for components that count no belief', () => {
    expect(values('belief_accuracy')).toEqual([1, 0.5]);
    expect(values('adaptation')).toEqual([0, 0]);
    expect(values('wellbeing')).toEqual([0, 0]);
  });

  it.each([
    [0, 7, 26],
    [7, 0, 19],
    [20, 0, 6],
    [26, 0, 0],
    [27, 0, -1],
  ])('counts the later steps for belief_skill, at step %d', (step, first, last) => {
    // The next step counts fully, and each later step 0.9 times the step before it. Steps before step 8 do not count. `first`
    // and `last` are the exponents of 0.9 for the first and the last step that count.
    let steps = 0;
    for (let later = first; later <= last; later++) steps += 0.9 ** later;
    const { beliefSkillScale, perSkillStep } = world.params;
    const [score, wellbeing] = values('belief_skill', step);
    expect(score).toBeCloseTo(beliefSkillScale * perSkillStep * steps, 12);
    expect(wellbeing).toBe(score / 2);
  });
});

it('the components of a plan evaluation give the score that the search gives the plan', () => {
  const profiles = priorState(1, world, 4).posteriorSamples(6);
  const { sums, episode } = playSteps(77, 10);
  using imagination = openImagination(6, 1);
  const sequence = Uint8Array.from({ length: 28 }, (_, k) => (k * 3) % 10);
  const { meters, components } = runSync(imagination.evaluate(sequence, 10, 0, sums, profiles));
  const score = components.reduce((sum, each, k) => sum + each * grader[k], 0);
  expect(score).toBeCloseTo(scoresOf('score', sums, 10, sequence, profiles)[0], 5);
  // Component 1 is the meter progress (meter 2) after the last step. The rows of the steps before step 10 stay 0.
  expect(components[1]).toBeCloseTo(meters[27 * 5 + 2], 5);
  expect([...meters.subarray(0, 50)].every((meter) => meter === 0)).toBe(true);
  // One step changes vitality little. The bound is chosen by hand.
  expect(Math.abs(meters[50] - episode.meters[0])).toBeLessThan(0.3);
});
