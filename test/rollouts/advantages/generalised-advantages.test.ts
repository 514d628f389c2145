/** Tests of `generalisedAdvantages`: numbers worked by hand, CleanRL's formula, rollouts of the world, refused arguments. */
import { describe, expect, it } from 'vitest';
import {
  createVecEnv,
  type GeneralisedAdvantageOptions,
  generalisedAdvantages,
  rolloutGroups,
  type ValueRollouts,
} from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);

describe('numbers worked by hand', () => {
  const episode: ValueRollouts = { rewards: [1, 2, 4], values: [8, 2, 1], steps: 3 };

  it('an advantage is the temporal difference plus gamma lambda times the next advantage', () => {
    // gamma lambda = 1/4. Step 2: 4 - 1 = 3. Step 1: 2 + 1/2 - 2 + 3/4 = 5/4. Step 0: 1 + 1 - 8 + 5/16 = -91/16.
    const found = generalisedAdvantages(episode, { gamma: 0.5, lambda: 0.5 });
    expect(found.advantages).toEqual(f32(-91 / 16, 5 / 4, 3));
    expect(found.returns).toEqual(f32(8 - 91 / 16, 13 / 4, 4));
  });

  it('with lambda 0 advantages are temporal differences, with lambda 1 returns are discounted sums of rewards', () => {
    expect(generalisedAdvantages(episode, { gamma: 0.5, lambda: 0 }).advantages).toEqual(f32(-6, 0.5, 3));
    expect(generalisedAdvantages(episode, { gamma: 0.5, lambda: 1 }).returns).toEqual(f32(3, 4, 4));
  });

  it('rewards do not count across the end of an episode, and lastValues continue an unfinished episode', () => {
    const unfinished = { ...episode, terminated: [false, true, false], lastValues: [6] };
    // Step 2: 4 + 3 - 1 = 6. Step 1 terminates: 2 - 2 = 0. Step 0: 1 + 1 - 8 = -6.
    expect(generalisedAdvantages(unfinished, { gamma: 0.5, lambda: 0.5 }).advantages).toEqual(f32(-6, 0, 6));
  });

  it('a step that was not taken has advantage 0, and the steps around it are adjacent', () => {
    const masked = {
      rewards: [1, Number.NaN, 2, 4],
      values: [8, Number.NaN, 2, 1],
      taken: [1, 0, 1, 1],
      steps: 4,
    };
    const found = generalisedAdvantages(masked, { gamma: 0.5, lambda: 0.5 });
    expect(found.advantages).toEqual(f32(-91 / 16, 0, 5 / 4, 3));
    expect(found.returns).toEqual(f32(8 - 91 / 16, 0, 13 / 4, 4));
  });

  it('firstSteps and lengths bound the steps of a row', () => {
    const rows = {
      rewards: [9, 1, 2, 4, 9, 9, 9, 9],
      values: [9, 8, 2, 1, 9, 9, 9, 9],
      steps: 4,
      firstSteps: [1, 4],
    };
    expect(generalisedAdvantages(rows, { gamma: 0.5, lambda: 0.5 }).advantages).toEqual(
      f32(0, -91 / 16, 5 / 4, 3, 0, 0, 0, 0),
    );
    const { advantages } = generalisedAdvantages({ ...rows, lengths: [1, 0] }, { gamma: 0.5 });
    expect(advantages).toEqual(f32(0, -7, 0, 0, 0, 0, 0, 0));
  });
});

/**
 * Three environments of five steps, [steps, n]. The expected numbers are those of the loop of CleanRL's ppo.py (commit
 * 020cf0e5), written with NumPy 2.4.6 in float64; its `dones[t + 1]` is `terminated` of step t.
 */
describe("CleanRL's formula", () => {
  const batch: ValueRollouts = {
    rewards: [0.5, -1, 0.25, 1.5, 0.75, -0.5, -0.25, 2, 1, 0.125, -0.375, 0.625, 1, 0.5, -2],
    values: [0.2, 0.4, -0.1, 0.6, -0.3, 0.8, 0.1, 0.9, -0.7, -0.4, 0.35, 0.55, 0.65, -0.15, 0.05],
    terminated: [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    lastValues: [0.3, -0.6, 0.9],
    steps: 5,
    timeMajor: true,
  };

  it('gamma 0.99, lambda 0.95, the defaults', () => {
    const { advantages, returns } = generalisedAdvantages(batch);
    expect(advantages).toEqual(
      f32(
        ...[1.6104452786906251, -0.709475, -0.24743658122056567, 0.7617706312500001, 1.05],
        ...[-1.4773382043812502, -0.25223749999999995, 0.674507504, 0.5482847375, 0.525],
        ...[-0.8208319999999999, -1.803525, 0.6469999999999999, 0.05600000000000002, -2.05],
      ),
    );
    expect(returns).toEqual(
      f32(
        ...[1.810445278690625, -0.30947499999999994, -0.34743658122056564, 1.3617706312500002, 0.75],
        ...[-0.6773382043812501, -0.15223749999999994, 1.574507504, -0.1517152625, 0.125],
        ...[-0.4708319999999999, -1.253525, 1.297, -0.09399999999999997, -2],
      ),
    );
  });

  it('gamma 0.9, lambda 0.5', () => {
    expect(generalisedAdvantages(batch, { gamma: 0.9, lambda: 0.5 }).advantages).toEqual(
      f32(
        ...[1.1895656250000002, -1.1975, 0.5728596875, 0.7768125, 1.05],
        ...[-1.10475625, -0.47375, 1.050275, 1.833875, 0.525],
        ...[-0.8105, -0.8025, 0.62, 0.11, -2.05],
      ),
    );
  });

  it('is the same for arrays of [n, steps]', () => {
    const transposed = (list: ArrayLike<number | boolean>): number[] =>
      Array.from({ length: 15 }, (_, i) => Number(list[(i % 5) * 3 + Math.floor(i / 5)]));
    const rows = {
      rewards: transposed(batch.rewards),
      values: transposed(batch.values),
      terminated: transposed(batch.terminated!),
      lastValues: batch.lastValues,
      steps: 5,
    };
    const expected = generalisedAdvantages(batch);
    const found = generalisedAdvantages(rows);
    expect(found.advantages).toEqual(f32(...transposed(expected.advantages)));
    expect(found.returns).toEqual(f32(...transposed(expected.returns)));
  });
});

describe('rollouts of the world', () => {
  it('with values of 0 and lambda 1, the returns are those of rolloutGroups', async () => {
    const rollouts = await rolloutGroups({ seeds: [7, 8], groupSize: 2, policy: 'random', gamma: 0.9 });
    const values = new Float32Array(rollouts.rewards.length);
    const { advantages, returns } = generalisedAdvantages({ ...rollouts, values }, { gamma: 0.9, lambda: 1 });
    expect(returns).toEqual(rollouts.returns);
    expect(advantages).toEqual(rollouts.returns);
  });

  it.each(['same-step', 'next-step'] as const)(
    'returns of stored steps with autoreset %s stop at the ends of episodes',
    (autoreset) => {
      using env = createVecEnv({ numEnvs: 2, autoreset });
      env.reset({ seed: 3 });
      const steps = 60;
      const [rewards, terminated, taken] = [[], [], []] as number[][];
      let before = [0, 0];
      for (let t = 0; t < steps; t++) {
        const result = env.step([t % 10, (3 * t) % 10]);
        rewards.push(...result.rewards);
        terminated.push(...result.terminated);
        taken.push(...before.map((ended) => (autoreset === 'next-step' ? 1 - ended : 1)));
        before = [...result.terminated];
      }
      const stored = {
        rewards,
        values: rewards.map(() => 0),
        terminated,
        taken,
        lastValues: [0, 0],
        steps,
        timeMajor: true,
      };
      const { returns } = generalisedAdvantages(stored, { gamma: 1, lambda: 1 });
      const sum = (from: number, to: number): number =>
        Array.from({ length: to - from }, (_, k) => rewards[(from + k) * 2]).reduce(
          (total, reward) => total + reward,
          0,
        );
      // The first step of the second episode. With next-step, step 28 only resets.
      const second = autoreset === 'next-step' ? 29 : 28;
      expect(returns[0]).toBeCloseTo(sum(0, 28), 4);
      expect(returns[second * 2]).toBeCloseTo(sum(second, second + 28), 4);
      if (autoreset === 'next-step') expect(returns[28 * 2]).toBe(0);
    },
  );
});

describe('generalisedAdvantages refuses', () => {
  const valid: ValueRollouts = { rewards: [1, 2], values: [1, 2], steps: 2 };
  const changed =
    (changes: object, options: GeneralisedAdvantageOptions = {}) =>
    () =>
      generalisedAdvantages({ ...valid, ...changes }, options);

  it.each([
    ['rewards that are not an array', { rewards: 3 }, 'wrong_type'],
    ['rewards that are not whole rows', { steps: 3 }, 'wrong_length'],
    ['missing values', { values: undefined }, 'wrong_type'],
    ['too few values', { values: [1] }, 'wrong_length'],
    ['too few entries of terminated', { terminated: [0] }, 'wrong_length'],
    ['a row that does not terminate, without lastValues', { terminated: [0, 0] }, 'wrong_length'],
    ['too many lastValues', { terminated: [0, 0], lastValues: [1, 2] }, 'wrong_length'],
    ['a reward that is not finite', { rewards: [1, Number.NaN] }, 'out_of_range'],
    ['a value that is not finite', { values: [Infinity, 1] }, 'out_of_range'],
    ['a first step beyond the row', { firstSteps: [3] }, 'out_of_range'],
    ['timeMajor that is not a boolean', { timeMajor: 1 }, 'wrong_type'],
  ] as const)('%s', (_, changes, code) => {
    expectRefusal(changed(changes), code);
  });

  it('factors outside [0, 1], and unknown options', () => {
    expectRefusal(changed({}, { gamma: 1.5 }), 'out_of_range');
    expectRefusal(changed({}, { lambda: -0.1 }), 'out_of_range');
    expectRefusal(changed({}, { discount: 0.9 } as never), 'unknown_option');
  });

  it('a null reward, with its index and the remedy in the error', () => {
    expect(changed({ rewards: [1, null] })).toThrow(
      /rewards\[1\], got null\. Pass finite numbers, and taken/,
    );
  });
});
