/** Inference over whole episodes: accuracy, calibration, the inputs that it depends on, and invalid arguments. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Inference } from '../../../src/agents/inference/inference.js';
import { errorCountedBy } from '../../../src/agents/inference/samples.js';
import { type ErrorCode, graderWeights } from '../../../src/index.js';
import {
  NUM_ACTIONS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  OBSERVATION_SIZE,
  PROFILE_SIZE,
} from '../../../src/world/fields.js';
import { checkProfile } from '../../../src/world/resolve-names.js';
import { createWorld } from '../../../src/world/world.js';
import {
  meanError,
  observeAll,
  type PlayedEpisodes,
  playObservedEpisodes,
  rowsOfEnv,
} from '../../support/observed-episodes.js';
import { expectRefusal } from '../../support/refusals.js';

const world = createWorld();
const NUM_ENVS = 100;
let episodes: PlayedEpisodes;
beforeAll(() => {
  episodes = playObservedEpisodes(world, { numEnvs: NUM_ENVS, seed: 20_000 });
});

/** The belief MAE of the constant belief in this world. */
const CONSTANT_MAE = 0.205;

const meanOf = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** The number of episodes in tests that need no statistics. */
const FEW = 6;
const rowsOf = (rows: Float32Array, count: number) => rows.slice(0, (rows.length / NUM_ENVS) * count);
const observationsOf = (count: number) => episodes.observations.map((rows) => rowsOf(rows, count));
const lastActionsIn = (rows: Float32Array) =>
  rows.filter((_, at) => at % OBSERVATION_SIZE === OBSERVATION.lastAction);

describe('beliefs', () => {
  it('have about the error that the inference expects, and their intervals contain about 80 % of the targets', () => {
    const inference = observeAll(new Inference(world, NUM_ENVS), episodes.observations, 0, 1);
    const error = () => meanError(inference.beliefs(), episodes.targets);
    expect(error()).toBeCloseTo(CONSTANT_MAE, 1);
    for (const [first, end] of [
      [1, 5],
      [5, 9],
      [9, 15],
      [15, 29],
    ]) {
      observeAll(inference, episodes.observations, first, end);
      if (end === 9) expect(error()).toBeLessThan(0.1);
      const expected = inference.expectedErrors().reduce((sum, each) => sum + each) / episodes.targets.length;
      expect(Math.abs(error() / expected - 1)).toBeLessThan(0.1);
      const inside = Array.from({ length: NUM_ENVS }, (_, i) => inference.explain(i).targets).flatMap(
        (targets, i) =>
          targets.map(
            ({ low, high }, k) => low <= episodes.targets[3 * i + k] && episodes.targets[3 * i + k] <= high,
          ),
      );
      // Intervals run from the 10th to the 90th percentile, so 0.8 of the targets are inside; a target of 0 or 1 is inside
      // more often.
      const share = inside.filter(Boolean).length / inside.length;
      expect(share).toBeGreaterThan(0.77);
      expect(share).toBeLessThan(0.87);
    }
    // The error of a linear-Gaussian estimator on such episodes is 0.09.
    expect(error()).toBeLessThan(0.078);
    // The heuristic's observations do not allow an error below 0.06. A smaller error would mean that the inference used
    // hidden state.
    expect(error()).toBeGreaterThan(0.06);
  });
});

describe('beliefs for the squared error', () => {
  const squaredError = (beliefs: Float32Array) =>
    beliefs.reduce((sum, belief, k) => sum + (belief - episodes.targets[k]) ** 2, 0) / beliefs.length;

  it('are posterior means: their squared error is as expected, and smaller than the squared error of the medians', () => {
    const inference = new Inference(world, NUM_ENVS);
    for (const [first, end] of [
      [0, 5],
      [5, 9],
      [9, 15],
    ]) {
      observeAll(inference, episodes.observations, first, end);
      const error = squaredError(inference.beliefs('squared'));
      expect(error).toBeLessThan(squaredError(inference.beliefs()));
      expect(Math.abs(error / meanOf(inference.expectedErrors('squared')) - 1)).toBeLessThan(0.15);
    }
    const { targets } = inference.explain(3);
    expect(Array.from(inference.beliefs('squared').subarray(9, 12))).toEqual(
      targets.map(({ mean }) => Math.fround(mean)),
    );
  });
});

describe('errorCountedBy', () => {
  it.each([
    ['v1', 'absolute'],
    ['v2', 'absolute'],
    ['v3', 'squared'],
  ])('of the grader %s is %s', (grader, error) => {
    expect(errorCountedBy(graderWeights(grader))).toBe(error);
  });
});

describe('the posterior', () => {
  const resultsOf = (inference: Inference) => [
    inference.beliefs(),
    inference.expectedErrors(),
    inference.posteriorSamples(5),
    inference.probeValues(),
  ];

  it('depends only on the observations of its environment', () => {
    const together = observeAll(new Inference(world, FEW), observationsOf(FEW), 0, 20);
    for (const i of [0, FEW - 1]) {
      const alone = observeAll(new Inference(world, 1), rowsOfEnv(episodes.observations, i), 0, 20);
      const [batchResults, singleResults] = [resultsOf(together), resultsOf(alone)];
      singleResults.forEach((values, k) => {
        expect(batchResults[k].slice(i * values.length, (i + 1) * values.length)).toEqual(values);
      });
      expect(together.explain(i)).toEqual(alone.explain(0));
    }
  });

  it('does not depend on earlier queries or on repeated observations', () => {
    const observations = observationsOf(FEW);
    const unqueried = observeAll(new Inference(world, FEW), observations);
    const queried = new Inference(world, FEW);
    for (const rows of observations) {
      queried.observe(rows);
      resultsOf(queried);
      queried.observe(rows);
    }
    expect(resultsOf(queried)).toEqual(resultsOf(unqueried));
  });

  it('does not depend on masked rows or on an earlier episode', () => {
    const observations = observationsOf(2);
    const other = episodes.observations.map((rows) => rows.slice(-observations[0].length));
    const inference = observeAll(new Inference(world, 2), other, 0, 15);
    const before = inference.beliefs();
    const playing = Uint8Array.of(0, 1);
    for (const rows of observations) inference.observe(rows, playing);
    const fresh = observeAll(new Inference(world, 2), observations).beliefs();
    expect(inference.beliefs()).toEqual(Float32Array.of(...before.slice(0, 3), ...fresh.slice(3)));
  });

  it('depends on the seed of the inference', () => {
    const [one, other] = [0, 1].map((seed) =>
      observeAll(new Inference(world, 2, { seed }), observationsOf(2)),
    );
    expect(one.beliefs()).not.toEqual(other.beliefs());
  });

  it('begins with the first observation, at any step', () => {
    const late = observeAll(new Inference(world, FEW), observationsOf(FEW), 12, 16);
    expect(late.explain(0)).toMatchObject({ step: 15, evidence: 4, contradicted: 0 });
  });
});

describe('posterior samples', () => {
  it('are valid and within their ranges, and repeat only after `samples` different profiles', () => {
    const inference = observeAll(new Inference(world, 8, { samples: 64 }), observationsOf(8));
    const profiles = inference.posteriorSamples(64);
    expect(profiles.length).toBe(8 * 64 * PROFILE_SIZE);
    const { traitLow, traitSpan } = world.params;
    for (let at = 0; at < profiles.length; at += PROFILE_SIZE) {
      const profile = checkProfile(profiles.subarray(at, at + PROFILE_SIZE));
      for (let k = 0; k < NUM_TRAITS; k++) {
        expect(profile[k]).toBeGreaterThanOrEqual(traitLow[k]);
        expect(profile[k]).toBeLessThanOrEqual(Math.fround(traitLow[k] + traitSpan[k]));
      }
      const weights = profile.slice(NUM_TRAITS);
      expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
      expect(weights.reduce((sum, weight) => sum + weight)).toBeCloseTo(1, 6);
    }
    const first = new Set(Array.from({ length: 64 }, (_, p) => profiles[p * PROFILE_SIZE]));
    expect(first.size).toBe(64);
    expect(inference.posteriorSamples(128).slice(64 * PROFILE_SIZE, 65 * PROFILE_SIZE)).toEqual(
      profiles.slice(0, PROFILE_SIZE),
    );
  });
});

describe('probe values', () => {
  it.each([
    ['absolute', 0.004],
    ['squared', 0.002],
  ] as const)(
    'match the later reduction of the %s error, and are 0 when one step is left',
    (error, tolerance) => {
      const inference = observeAll(new Inference(world, NUM_ENVS), episodes.observations, 0, 1);
      for (let step = 0; step < 3; step++) {
        const values = inference.probeValues(error);
        const actions = lastActionsIn(episodes.observations[step + 1]);
        const expected =
          actions.reduce((sum, action, i) => sum + values[i * NUM_ACTIONS + action], 0) / NUM_ENVS;
        const before = meanOf(inference.expectedErrors(error));
        inference.observe(episodes.observations[step + 1]);
        expect(Math.abs(expected - (before - meanOf(inference.expectedErrors(error))))).toBeLessThan(
          tolerance,
        );
      }
      observeAll(inference, episodes.observations, 4, NUM_STEPS);
      expect(Math.max(...inference.probeValues(error))).toBe(0);
    },
  );

  it('are higher for actions that more unknown traits affect', () => {
    const inference = observeAll(new Inference(world, 1), rowsOfEnv(episodes.observations, 0), 0, 1);
    const [work, , , sleep] = inference.probeValues();
    expect(work).toBeGreaterThan(20 * sleep);
  });
});

describe('invalid arguments', () => {
  const observations = () => episodes.observations[3].slice(0, 2 * OBSERVATION_SIZE);

  it.each<[string, unknown, unknown, ErrorCode]>([
    ['an array of numbers', [...Array(2 * OBSERVATION_SIZE).keys()], null, 'wrong_type'],
    ['too short an array', new Float32Array(OBSERVATION_SIZE), null, 'wrong_length'],
    ['a mask of another length', null, new Uint8Array(3), 'wrong_length'],
    ['a mask of another type', null, [1, 1], 'wrong_type'],
  ])('%s is refused', (_, rows, playing, code) => {
    const inference = new Inference(world, 2);
    expectRefusal(() => inference.observe((rows ?? observations()) as never, playing as never), code);
  });

  it.each([
    [0, 29],
    [0, 1.5],
    [4, Number.NaN],
    [4, 1.01],
    [9, 5],
    [10, 10],
    [10, -1],
    [11, Number.POSITIVE_INFINITY],
    [17, Number.NEGATIVE_INFINITY],
  ])('an observation whose number at index %d is %d is refused, and nothing changes', (at, value) => {
    const inference = new Inference(world, 2);
    const before = inference.beliefs();
    const rows = observations();
    rows[OBSERVATION_SIZE + at] = value;
    expectRefusal(() => inference.observe(rows), 'out_of_range');
    expect(inference.beliefs()).toEqual(before);
    expect(inference.explain(0).step).toBe(-1);
  });

  it('invalid options, indices, counts and errors are refused', () => {
    expectRefusal(() => new Inference(world, 1, { sampels: 3 } as object), 'unknown_option');
    expectRefusal(() => new Inference(world, 1, { samples: 3 }), 'out_of_range');
    expectRefusal(() => new Inference(world, 0), 'out_of_range');
    expectRefusal(() => new Inference(world, 1).explain(1), 'out_of_range');
    expectRefusal(() => new Inference(world, 1).posteriorSamples(0), 'out_of_range');
    expectRefusal(() => new Inference(world, 1).beliefs('square' as 'squared'), 'unknown_name');
  });
});
