/** Running normalisation and statistics, compared with numbers worked by hand, with Gymnasium 1.3.0 and with NumPy 2.4.6. */
import { describe, expect, it } from 'vitest';
import {
  createVecEnv,
  EpisodeStatistics,
  type ErrorCode,
  type FollowedEnv,
  type NormaliserState,
  ObservationNormaliser,
  RewardNormaliser,
} from '../../src/index.js';
import { expectRefusal } from '../support/refusals.js';

const near = (values: readonly number[], digits = 6) => values.map((value) => expect.closeTo(value, digits));

/** Two batches of observations of two numbers. */
const FIRST = Float32Array.of(1, 10, 3, -2, 0.5, 4);
const SECOND = Float32Array.of(2, 0, -1, 8);

type AutoresetMode = FollowedEnv['metadata']['autoresetMode'];
const env = (numEnvs: number, autoresetMode: AutoresetMode = 'same-step'): FollowedEnv => ({
  numEnvs,
  metadata: { autoresetMode },
});
const step = (rewards: number[], terminated: number[] = rewards.map(() => 0)) => ({ rewards, terminated });

describe('ObservationNormaliser', () => {
  it("has the moments and results of Gymnasium's NormalizeObservation", () => {
    const normaliser = new ObservationNormaliser(2);
    // gymnasium.wrappers.utils.RunningMeanStd, shape (2,), after each batch.
    expect([...normaliser.normalise(FIRST)]).toEqual(
      near([
        -0.4628499746322632, 1.2247780561447144, 1.388735055923462, -1.2247235774993896, -0.9257462620735168,
        2.7215777663514018e-5,
      ]),
    );
    expect(normaliser.state.mean).toEqual(near([1.499950001666611, 3.9998666711109627], 12));
    expect(normaliser.state.variance).toEqual(near([1.1667361062965402, 23.999766656667592], 12));
    expect([...normaliser.normalise(SECOND)]).toEqual(
      near([0.6635037064552307, -0.8770420551300049, -1.5481212139129639, 0.8770771622657776]),
    );
    expect(normaliser.state.mean).toEqual(near([1.099978000439991, 3.9999200015999676], 12));
    expect(normaliser.state.variance).toEqual(near([1.8400073993680224, 20.799923995120228], 12));
    expect(normaliser.state.count).toBeCloseTo(5.0001, 12);
  });

  it('continues from its state, which JSON stores without loss', () => {
    const whole = new ObservationNormaliser(2);
    whole.normalise(FIRST);
    const state: NormaliserState = JSON.parse(JSON.stringify(whole.state));
    expect(state.schema).toEqual({ name: 'rhythm-vec/normaliser', version: 1 });
    const loaded = new ObservationNormaliser(2, { state });
    expect(loaded.normalise(SECOND)).toEqual(whole.normalise(SECOND));
    expect(loaded.state).toEqual(whole.state);
  });

  it('keeps its state while it is frozen, and in calls with update: false', () => {
    const normaliser = new ObservationNormaliser(2, { frozen: true });
    expect([...normaliser.normalise(FIRST)]).toEqual(near([...FIRST]));
    normaliser.frozen = false;
    normaliser.normalise(FIRST);
    const { state } = normaliser;
    normaliser.normalise(SECOND, { update: false });
    expect(normaliser.state).toEqual(state);
  });

  it('counts the environments of a mask, and normalises all', () => {
    const [masked, alone] = [new ObservationNormaliser(2), new ObservationNormaliser(2)];
    const normalised = masked.normalise(FIRST, { mask: [true, false, true] });
    alone.normalise(Float32Array.of(1, 10, 0.5, 4));
    expect(masked.state).toEqual(alone.state);
    expect(normalised).toEqual(alone.normalise(FIRST, { update: false }));
    masked.normalise(FIRST, { mask: [0, 0, 0] });
    expect(masked.state).toEqual(alone.state);
  });

  it('gives the same results for both layouts of an environment', () => {
    const states = (['row-major', 'column-major'] as const).map((layout) => {
      using vec = createVecEnv({ numEnvs: 5, layout });
      const { observations, columnStride } = vec.reset({ seed: 1 });
      const normaliser = new ObservationNormaliser(vec.observationSpace.shape[0]);
      const normalised = normaliser.normalise(observations, { columnStride, numEnvs: 5 });
      // Environment 3, number 4.
      const at = layout === 'row-major' ? 3 * 22 + 4 : 4 * columnStride + 3;
      return { state: normaliser.state, number: normalised[at] };
    });
    expect(states[1]).toEqual(states[0]);
  });

  it('clips, and writes to the array `out`', () => {
    const normaliser = new ObservationNormaliser(1, { clip: 0.5, frozen: true });
    const values = Float32Array.of(-3, 0.25, 3);
    expect(normaliser.normalise(values, { out: values })).toBe(values);
    expect([...values]).toEqual(near([-0.5, 0.25, 0.5]));
  });
});

describe('RewardNormaliser', () => {
  it('divides by the standard deviation of discounted sums, which begin again at 0 after the end of an episode', () => {
    // NumPy: sum = 0.9 sum + r; RunningMeanStd.update(sum); r / sqrt(var + 1e-8); sum = 0 where terminated.
    const normaliser = new RewardNormaliser(env(2), { gamma: 0.9 });
    expect([...normaliser.normalise(step([1, -1]))]).toEqual(near([0.999999995, -0.999999995]));
    expect([...normaliser.normalise(step([2, 0.5], [0, 1]))]).toEqual(
      near([1.3327844934217823, 0.3331961233554456]),
    );
    expect([...normaliser.normalise(step([4, 1], [1, 0]))]).toEqual(
      near([1.5847230187658121, 0.39618075469145303]),
    );
    expect([...normaliser.normalise(step([0.25, -3]))]).toEqual(
      near([0.09881566052180177, -1.1857879262616213]),
    );
    const { mean, variance, count } = normaliser.state;
    expect([...mean, ...variance, count]).toEqual(near([1.032487093911326, 6.400714566604473, 8.0001], 12));
  });

  it('leaves out the step that only resets, in the mode next-step', () => {
    const [same, next] = [new RewardNormaliser(env(1)), new RewardNormaliser(env(1, 'next-step'))];
    for (const normaliser of [same, next]) normaliser.normalise(step([3], [1]));
    next.normalise(step([0]));
    expect(next.state).toEqual(same.state);
    expect(next.normalise(step([2]))).toEqual(same.normalise(step([2])));
  });

  it('leaves out environments outside the mask', () => {
    const [masked, alone] = [new RewardNormaliser(env(2)), new RewardNormaliser(env(1))];
    masked.normalise(step([5, 7]), [1, 0]);
    alone.normalise(step([5]));
    expect(masked.state).toEqual(alone.state);
  });

  it('begins sums again at 0 on reset, of all environments or of a mask', () => {
    const normaliser = new RewardNormaliser(env(2), { gamma: 1 });
    const withoutReset = new RewardNormaliser(env(2), { gamma: 1 });
    for (const each of [normaliser, withoutReset]) each.normalise(step([4, 4]));
    normaliser.reset([true, false]);
    normaliser.normalise(step([1, 1]));
    // The sums are 1 and 5, with mean 3; without the reset they would be 5 and 5.
    withoutReset.normalise(step([1, 1]));
    expect(normaliser.state.mean[0]).toBeLessThan(withoutReset.state.mean[0]);
    normaliser.reset();
    const before = normaliser.state.mean[0];
    normaliser.normalise(step([before, before]));
    expect(normaliser.state.mean[0]).toBeCloseTo(before, 12);
  });

  it('loads a state, and keeps it while frozen', () => {
    const normaliser = new RewardNormaliser(env(1), { gamma: 0.5 });
    normaliser.normalise(step([2]));
    const loaded = new RewardNormaliser(env(4), {
      state: JSON.parse(JSON.stringify(normaliser.state)),
      frozen: true,
    });
    loaded.normalise(step([1, 2, 3, 4]));
    expect(loaded.state).toEqual(normaliser.state);
  });

  it('clips rewards to the option clip', () => {
    const normaliser = new RewardNormaliser(env(2), { clip: 0.5, frozen: true });
    expect([...normaliser.normalise(step([9, -9]))]).toEqual([0.5, -0.5]);
  });
});

describe('EpisodeStatistics', () => {
  it('sums rewards, counts steps and takes the time of each episode', () => {
    const time = { ms: 0 };
    const statistics = new EpisodeStatistics(env(2), { now: () => time.ms });
    time.ms = 500;
    expect(statistics.add({ rewards: [1, 2], terminated: [0, 0] })).toEqual([]);
    time.ms = 2000;
    expect(statistics.add({ rewards: [0.5, 4], terminated: [0, 1] })).toEqual([
      { env: 1, return: 6, length: 2, seconds: 2 },
    ]);
    time.ms = 2500;
    const ended = statistics.add({ rewards: [-1, 8], terminated: [1, 1] });
    expect(ended).toEqual([
      { env: 0, return: 0.5, length: 3, seconds: 2.5 },
      { env: 1, return: 8, length: 1, seconds: 0.5 },
    ]);
    expect([...statistics.returns]).toEqual([6, 0.5, 8]);
    expect([...statistics.lengths]).toEqual([2, 3, 1]);
    expect([...statistics.seconds]).toEqual([2, 2.5, 0.5]);
    expect(statistics.count).toBe(3);
  });

  it('keeps the last episodes', () => {
    const statistics = new EpisodeStatistics(env(2), { last: 3, now: () => 0 });
    for (let k = 0; k < 10; k++) statistics.add({ rewards: [k, 100 + k], terminated: [1, 0] });
    expect([...statistics.returns]).toEqual([7, 8, 9]);
    expect(statistics.count).toBe(10);
  });

  it('begins again at 0 on reset, and leaves out environments outside the mask', () => {
    const statistics = new EpisodeStatistics(env(2), { now: () => 0 });
    statistics.add({ rewards: [5, 5], terminated: [0, 0] });
    statistics.reset([true, false]);
    statistics.add({ rewards: [1, 1], terminated: [0, 1] }, [1, 0]);
    const ended = statistics.add({ rewards: [1, 1], terminated: [1, 1] });
    expect(ended.map((episode) => [episode.return, episode.length])).toEqual([
      [2, 2],
      [6, 2],
    ]);
    statistics.add({ rewards: [9, 9], terminated: [0, 0] });
    statistics.reset();
    expect(statistics.add({ rewards: [1, 2], terminated: [1, 1] }).map((episode) => episode.return)).toEqual([
      1, 2,
    ]);
  });

  it.each(['disabled', 'same-step', 'next-step'] as const)(
    'sums the rewards of an environment with autoreset %s',
    (autoreset) => {
      using vec = createVecEnv({ numEnvs: 3, autoreset });
      vec.reset({ seed: 9 });
      const statistics = new EpisodeStatistics(vec);
      const sums = [0, 0, 0];
      for (let t = 0; t < 28; t++) {
        const result = vec.step(vec.actionSpace.sample(t, 3));
        statistics.add(result);
        for (let i = 0; i < 3; i++) sums[i] += result.rewards[i];
      }
      expect([...statistics.returns]).toEqual(sums);
      expect([...statistics.lengths]).toEqual([28, 28, 28]);
      if (autoreset === 'disabled') return;
      // 29 steps: with next-step, the first only resets, and the other 28 are an episode.
      for (let t = 0; t < 29; t++) statistics.add(vec.step(vec.actionSpace.sample(t, 3)));
      expect([...statistics.lengths]).toEqual([28, 28, 28, 28, 28, 28]);
    },
  );
});

describe('refused, with the code and the place:', () => {
  const observations = new ObservationNormaliser(2);
  const rewards = new RewardNormaliser(env(2));
  const { state } = observations;
  const load = (changes: object, size = 2) =>
    new ObservationNormaliser(size, { state: { ...state, ...changes } });

  it.each<[ErrorCode, place: string, call: () => unknown]>([
    ['wrong_length', 'observations', () => observations.normalise(Float32Array.of(1, 2, 3))],
    ['wrong_type', 'observations', () => observations.normalise([1, 2] as never)],
    ['wrong_type', 'numEnvs', () => observations.normalise(FIRST.slice(0, 6), { columnStride: 3 })],
    ['wrong_length', 'out', () => observations.normalise(FIRST, { out: new Float32Array(2) })],
    ['wrong_length', 'mask', () => observations.normalise(FIRST, { mask: [1] })],
    ['out_of_range', 'column 1', () => observations.normalise(Float32Array.of(1, Number.NaN))],
    ['out_of_range', 'size', () => new ObservationNormaliser(0)],
    ['out_of_range', 'clip', () => new ObservationNormaliser(2, { clip: 0 })],
    ['unknown_option', 'eps', () => new ObservationNormaliser(2, { eps: 1 } as never)],
    ['wrong_length', 'variance', () => load({}, 3)],
    ['wrong_length', 'mean', () => load({ mean: [0] })],
    ['wrong_type', 'kind', () => load({ kind: 'rewards' })],
    ['wrong_type', 'schema', () => load({ schema: { name: 'other', version: 1 } })],
    ['out_of_range', 'variance', () => load({ variance: [1, -1] })],
    ['out_of_range', 'count', () => load({ count: 0 })],
    ['wrong_type', 'mean[1]', () => load({ mean: [0, 'a'] })],
    ['wrong_length', 'rewards', () => rewards.normalise(step([1]))],
    ['out_of_range', 'rewards[1]', () => rewards.normalise(step([1, Number.NaN]))],
    ['wrong_type', 'rewards', () => rewards.normalise({ rewards: 1, terminated: [] } as never)],
    ['wrong_length', 'mask', () => rewards.normalise(step([1, 2]), [1])],
    ['wrong_type', 'env', () => new RewardNormaliser(null as never)],
    ['out_of_range', 'gamma', () => new RewardNormaliser(env(2), { gamma: 2 })],
    ['unknown_name', 'never', () => new RewardNormaliser(env(2, 'never' as never))],
    ['out_of_range', 'last', () => new EpisodeStatistics(env(2), { last: 0 })],
    ['wrong_type', 'now', () => new EpisodeStatistics(env(2), { now: 5 as never })],
  ])('%s, %s', (code, place, call) => {
    expectRefusal(call, code, place);
    expect([observations.state.count, rewards.state.count]).toEqual([1e-4, 1e-4]);
  });
});
