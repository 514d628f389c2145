/** Running normalisation, compared with numbers worked by hand, with Gymnasium 1.3.0 and with NumPy 2.4.6. */
import { describe, expect, it } from 'vitest';
import {
  createVecEnv,
  type FollowedEnv,
  type NormaliserState,
  OBSERVATION,
  ObservationNormaliser,
  RewardNormaliser,
} from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

const near = (values: readonly number[], digits = 6) => values.map((value) => expect.closeTo(value, digits));

/** Two batches of observations of two numbers. */
const FIRST = Float32Array.of(1, 10, 3, -2, 0.5, 4);
const SECOND = Float32Array.of(2, 0, -1, 8);

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
      using env = createVecEnv({ numEnvs: 5, layout });
      const { observations, columnStride } = env.reset({ seed: 1 });
      const normaliser = new ObservationNormaliser(env.observationSpace.shape[0]);
      const normalised = normaliser.normalise(observations, { columnStride, numEnvs: env.numEnvs });
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

  it('normalises the serenity of a batch to mean 0 and variance 1', () => {
    using env = createVecEnv({ numEnvs: 500 });
    env.reset({ seed: 0 });
    const { observations } = env.step(env.actionSpace.sample(0, 500));
    const normalised = new ObservationNormaliser(22).normalise(observations);
    const serenity = Array.from({ length: 500 }, (_, i) => normalised[i * 22 + OBSERVATION.meters + 3]);
    const mean = serenity.reduce((sum, value) => sum + value, 0) / 500;
    const variance = serenity.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 500;
    expect(Math.abs(mean)).toBeLessThan(0.01);
    expect(Math.abs(variance - 1)).toBeLessThan(0.01);
  });

  it('refuses invalid shapes, values and states', () => {
    const normaliser = new ObservationNormaliser(2);
    expectRefusal(() => normaliser.normalise(Float32Array.of(1, 2, 3)), 'wrong_length');
    expectRefusal(() => normaliser.normalise([1, 2] as never), 'wrong_type');
    expectRefusal(() => normaliser.normalise(FIRST, { columnStride: 3 }), 'wrong_type', 'numEnvs');
    expectRefusal(() => normaliser.normalise(FIRST, { out: new Float32Array(2) }), 'wrong_length');
    expectRefusal(() => normaliser.normalise(FIRST, { mask: [1] }), 'wrong_length');
    expectRefusal(() => normaliser.normalise(Float32Array.of(1, Number.NaN)), 'out_of_range', 'column 1');
    expect(normaliser.state.count).toBe(1e-4);
    expectRefusal(() => new ObservationNormaliser(0), 'out_of_range');
    expectRefusal(() => new ObservationNormaliser(2, { clip: 0 }), 'out_of_range');
    expectRefusal(() => new ObservationNormaliser(2, { eps: 1 } as never), 'unknown_option');
    const { state } = normaliser;
    const load =
      (changes: object, size = 2) =>
      () =>
        new ObservationNormaliser(size, { state: { ...state, ...changes } });
    expectRefusal(load({}, 3), 'wrong_length', 'variance');
    expectRefusal(load({ kind: 'rewards' }), 'wrong_type', 'kind');
    expectRefusal(load({ schema: { name: 'other', version: 1 } }), 'wrong_type', 'schema');
    expectRefusal(load({ variance: [1, -1] }), 'out_of_range', 'variance');
    expectRefusal(load({ count: 0 }), 'out_of_range', 'count');
    expectRefusal(load({ mean: [0, 'a'] }), 'wrong_type', 'mean[1]');
  });
});

describe('RewardNormaliser', () => {
  const env = (
    numEnvs: number,
    autoresetMode: 'disabled' | 'same-step' | 'next-step' = 'same-step',
  ): FollowedEnv => ({
    numEnvs,
    metadata: { autoresetMode },
  });
  const step = (rewards: number[], terminated: number[] = rewards.map(() => 0)) => ({ rewards, terminated });

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

  it('has the same state with autoreset disabled and same-step, if the episodes are the same', () => {
    const states = (['disabled', 'same-step'] as const).map((autoreset) => {
      using vec = createVecEnv({ numEnvs: 3, autoreset });
      vec.reset({ seed: 4 });
      const normaliser = new RewardNormaliser(vec);
      for (let t = 0; t < 28; t++) normaliser.normalise(vec.step(vec.actionSpace.sample(t, 3)));
      return normaliser.state;
    });
    expect(states[1]).toEqual(states[0]);
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

  it('refuses invalid arguments, and changes nothing', () => {
    const normaliser = new RewardNormaliser(env(2));
    expectRefusal(() => normaliser.normalise(step([1])), 'wrong_length');
    expectRefusal(() => normaliser.normalise(step([1, Number.NaN])), 'out_of_range', 'rewards[1]');
    expectRefusal(() => normaliser.normalise({ rewards: 1, terminated: [] } as never), 'wrong_type');
    expectRefusal(() => normaliser.normalise(step([1, 2]), [1]), 'wrong_length', 'mask');
    expect(normaliser.state.count).toBe(1e-4);
    expectRefusal(() => new RewardNormaliser(null as never), 'wrong_type');
    expectRefusal(() => new RewardNormaliser(env(2), { gamma: 2 }), 'out_of_range');
    expectRefusal(
      () => new RewardNormaliser({ numEnvs: 1, metadata: { autoresetMode: 'never' as never } }),
      'unknown_name',
    );
  });
});
