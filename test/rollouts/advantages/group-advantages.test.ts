/** Tests of `groupAdvantages`: examples computed by hand, properties, and refused arguments. */
import { describe, expect, it } from 'vitest';
import {
  ADVANTAGE_METHODS,
  type AdvantageMethod,
  groupAdvantages,
  type Rewards,
} from '../../../src/index.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);
const nan = Number.NaN;
const expectClose = (got: ArrayLike<number>, expected: ArrayLike<number>): void => {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    expect(Math.abs(got[i] - expected[i]), `at ${i}: ${got[i]}, ${expected[i]}`).toBeLessThan(
      1e-5 * Math.max(1, Math.abs(expected[i])),
    );
  }
};

describe('examples computed by hand', () => {
  // Group 0: mean (0 + 1 + 2 + 5) / 4 = 2; squared distances 4 + 1 + 0 + 9 = 14; std sqrt(14 / 3).
  // Group 1: mean 3, no spread.
  const rewards = [0, 1, 2, 5, 3, 3, 3, 3];
  const std = Math.sqrt(14 / 3);
  // All eight: sum 20, mean 2.5; squared distances 6.25 + 2.25 + 0.25 + 6.25 + 4 x 0.25 = 16; std sqrt(16 / 7).
  const batchStd = Math.sqrt(16 / 7);

  it.each<[AdvantageMethod, (distance: number) => number]>([
    ['grpo', (distance) => distance / (std + 1e-4)],
    ['dr-grpo', (distance) => distance],
    ['batch-normalised', (distance) => distance / (batchStd + 1e-4)],
  ])('%s', (method, divided) => {
    const { advantages, means, stds, zeroSpread } = groupAdvantages(rewards, 4, { method });
    expect(advantages).toEqual(f32(...[-2, -1, 0, 3, 0, 0, 0, 0].map(divided)));
    expect(means).toEqual(f32(2, 3));
    expect(stds).toEqual(f32(std, 0));
    expect(zeroSpread).toBe(0.5);
  });

  it('leave-one-out: 0 - (1+2+5)/3, 1 - (0+2+5)/3, 2 - (0+1+5)/3, 5 - (0+1+2)/3', () => {
    const { advantages } = groupAdvantages(rewards, 4, { method: 'leave-one-out' });
    expect(advantages).toEqual(f32(-8 / 3, -4 / 3, 0, 4, 0, 0, 0, 0));
  });

  it('GRPO is the default', () => {
    expect(ADVANTAGE_METHODS[0]).toBe('grpo');
    expect(groupAdvantages(rewards, 4)).toEqual(groupAdvantages(rewards, 4, { method: 'grpo' }));
  });

  it('epsilon is added to the std: a distance of 1 over sqrt(2) + 0.5', () => {
    const { advantages } = groupAdvantages([1, 3], 2, { epsilon: 0.5 });
    expect(advantages).toEqual(f32(-1 / (Math.SQRT2 + 0.5), 1 / (Math.SQRT2 + 0.5)));
  });
});

describe('missing rewards', () => {
  it('are left out of the group: mean of 1 and 3 is 2, std sqrt(2), leave-one-out baselines 3 and 1', () => {
    const rewards = [1, null, 3, nan];
    const grpo = groupAdvantages(rewards, 4);
    const each = 1 / (Math.SQRT2 + 1e-4);
    expect(grpo).toEqual({
      advantages: f32(-each, 0, each, 0),
      means: f32(2),
      stds: f32(Math.SQRT2),
      zeroSpread: 0,
    });
    const { advantages } = groupAdvantages(rewards, 4, { method: 'leave-one-out' });
    expect(advantages).toEqual(f32(-2, 0, 2, 0));
  });

  it('are left out of the batch: 0, 2 and 4 have a std of 2', () => {
    const { advantages } = groupAdvantages([0, 2, 4, null], 2, { method: 'batch-normalised' });
    expect(advantages).toEqual(f32(-1 / 2.0001, 1 / 2.0001, 0, 0));
  });

  it('are left out of the sum over reward functions', () => {
    const format = [1, -2, null, 1];
    const env = Float64Array.of(4, nan, nan, 2);
    // Completions: 1 + 0.5 x 4 = 3; -2; no reward; 1 + 0.5 x 2 = 2. Mean of the three: 1.
    const { advantages, means } = groupAdvantages([format, env], 4, {
      method: 'dr-grpo',
      weights: [1, 0.5],
    });
    expect(advantages).toEqual(f32(2, -3, 0, 1));
    expect(means).toEqual(f32(1));
  });

  it('a group with at most one reward has std 0 and advantages 0', () => {
    for (const method of ADVANTAGE_METHODS) {
      expect(groupAdvantages([5, null, null, null], 2, { method })).toEqual({
        advantages: f32(0, 0, 0, 0),
        means: f32(5, nan),
        stds: f32(0, 0),
        zeroSpread: 1,
      });
    }
  });
});

describe('edge cases', () => {
  it.each(ADVANTAGE_METHODS)('%s: a group of one has std 0 and advantage 0', (method) => {
    const { advantages, means, stds, zeroSpread } = groupAdvantages([1, 2, 4], 1, { method });
    expect(advantages).toEqual(f32(0, 0, 0));
    expect(means).toEqual(f32(1, 2, 4));
    expect(stds).toEqual(f32(0, 0, 0));
    expect(zeroSpread).toBe(1);
  });

  it.each(ADVANTAGE_METHODS)('%s: equal rewards have std 0 in spite of rounding', (method) => {
    const { advantages, stds, zeroSpread } = groupAdvantages(Array(7).fill(0.1), 7, { method });
    expect(advantages).toEqual(new Float32Array(7));
    expect(stds[0]).toBe(0);
    expect(zeroSpread).toBe(1);
  });

  it('a std that is a rounding error counts as zero spread', () => {
    const { stds, zeroSpread } = groupAdvantages(
      [
        [0.1, 0.3],
        [0.2, 0],
      ],
      2,
    );
    expect(stds[0]).toBeGreaterThan(0);
    expect(zeroSpread).toBe(1);
  });

  it('no rewards give empty arrays', () => {
    const none = { advantages: f32(), means: f32(), stds: f32(), zeroSpread: 0 };
    expect(groupAdvantages([], 4)).toEqual(none);
  });

  it('the largest rewards do not overflow', () => {
    const { advantages, stds } = groupAdvantages([2 ** 64, -(2 ** 64)], 2, { weights: [2 ** 20] });
    expect(advantages).toEqual(f32(Math.SQRT1_2, -Math.SQRT1_2));
    expect(stds[0]).toBe(Math.fround(Math.SQRT2 * 2 ** 84));
  });
});

interface Drawn {
  readonly rewards: Float64Array;
  readonly groupSize: number;
  readonly method: AdvantageMethod;
}

/** Draws groups of rewards, some missing. They are multiples of 1/4, so that sums are exact. */
function draw(random: Random, missing = 0.1): Drawn {
  const groupSize = random.integer(1, 9);
  const length = groupSize * random.integer(1, 6);
  const rewards = Float64Array.from({ length }, () =>
    random.chance(missing) ? nan : random.integer(-40, 40) / 4,
  );
  return { rewards, groupSize, method: random.pick(ADVANTAGE_METHODS) };
}

describe('for all rewards', () => {
  it('advantages are finite, and those of a group sum to 0', () => {
    forAll(300, (random) => {
      const { rewards, groupSize, method } = draw(random);
      const { advantages } = groupAdvantages(rewards, groupSize, { method });
      expect(advantages.every(Number.isFinite)).toBe(true);
      for (let from = 0; from < rewards.length; from += groupSize) {
        const group = advantages.subarray(from, from + groupSize);
        expect(Math.abs(group.reduce((sum, advantage) => sum + advantage, 0))).toBeLessThan(1e-4);
      }
    });
  });

  it('a constant added to a group changes no advantage, except batch-normalised ones', () => {
    forAll(200, (random) => {
      const { rewards, groupSize } = draw(random);
      // Not batch-normalised: shifts of groups change the std of the batch.
      const method = random.pick(['grpo', 'dr-grpo', 'leave-one-out'] as const);
      const shifts = rewards.map(() => random.integer(-100, 100));
      const shifted = rewards.map((reward, i) => reward + shifts[Math.floor(i / groupSize)]);
      const { advantages, stds } = groupAdvantages(shifted, groupSize, { method });
      const before = groupAdvantages(rewards, groupSize, { method });
      expectClose(advantages, before.advantages);
      expectClose(stds, before.stds);
    });
  });

  it('a factor scales advantages, except where they are divided by the std', () => {
    forAll(200, (random) => {
      const { rewards, groupSize, method } = draw(random);
      const scale = 2 ** random.integer(-6, 6);
      const scaled = rewards.map((reward) => reward * scale);
      const normalised = method === 'grpo' || method === 'batch-normalised';
      // Epsilon is scaled too.
      const { advantages } = groupAdvantages(scaled, groupSize, { method, epsilon: 1e-4 * scale });
      const before = groupAdvantages(rewards, groupSize, { method }).advantages;
      expectClose(
        advantages,
        before.map((advantage) => advantage * (normalised ? 1 : scale)),
      );
    });
  });

  it('the order of members and of groups changes only the order of advantages', () => {
    forAll(200, (random) => {
      const { rewards, groupSize, method } = draw(random);
      const groups = random.permutation(rewards.length / groupSize);
      const order = Array.from(groups, (g) =>
        Array.from(random.permutation(groupSize), (i) => g * groupSize + i),
      ).flat();
      const permuted = groupAdvantages(
        order.map((i) => rewards[i]),
        groupSize,
        { method },
      );
      const before = groupAdvantages(rewards, groupSize, { method });
      expectClose(
        permuted.advantages,
        order.map((i) => before.advantages[i]),
      );
      expect(permuted.zeroSpread).toBe(before.zeroSpread);
    });
  });

  it('a group with missing rewards has the advantages of the group without them', () => {
    forAll(200, (random) => {
      const { rewards, method } = draw(random, 0.4);
      const present = rewards.filter((reward) => !Number.isNaN(reward));
      if (present.length === 0) return;
      const { advantages, stds } = groupAdvantages(rewards, rewards.length, { method });
      const alone = groupAdvantages(present, present.length, { method });
      expectClose(
        advantages.filter((_, i) => !Number.isNaN(rewards[i])),
        alone.advantages,
      );
      expectClose(stds, alone.stds);
    });
  });

  it('within a group, higher rewards have higher advantages', () => {
    forAll(200, (random) => {
      const { rewards, groupSize, method } = draw(random, 0);
      const { advantages } = groupAdvantages(rewards, groupSize, { method });
      for (let i = 1; i < rewards.length; i++) {
        if (i % groupSize === 0) continue;
        const up = Math.sign(rewards[i] - rewards[i - 1]);
        expect(Math.sign(advantages[i] - advantages[i - 1])).toBe(up);
      }
    });
  });

  it('does not write to its arguments', () => {
    const rewards = f32(1, nan, 3, 4);
    const weights = Object.freeze([2]);
    groupAdvantages(rewards, 2, { weights });
    expect(rewards).toEqual(f32(1, nan, 3, 4));
  });
});

describe('groupAdvantages refuses', () => {
  const refused = (rewards: unknown, groupSize: unknown = 2, options: object = {}) => {
    return () => groupAdvantages(rewards as Rewards, groupSize as number, options);
  };

  it('invalid rewards', () => {
    expectRefusal(refused('rewards'), 'wrong_type', 'rewards', '"rewards"');
    expectRefusal(refused([[1, 2], 3]), 'wrong_type', 'rewards[1]', '3');
    expectRefusal(refused([1, '2']), 'wrong_type', 'rewards[1]', '"2"');
    expectRefusal(refused(new Array(2 ** 32 - 1)), 'out_of_range', 'the number of rewards');
    expectRefusal(refused([1, undefined]), 'wrong_type', 'rewards[1]', 'undefined');
    // biome-ignore lint/suspicious/noSparseArray: the hole is the tested value.
    expectRefusal(refused([, 1]), 'wrong_type', 'rewards[0]', 'undefined');
    expectRefusal(refused(BigInt64Array.of(1n, 2n)), 'wrong_type', 'rewards[0]', '1');
    expectRefusal(refused([[1, 2], f32(1, Number.POSITIVE_INFINITY)]), 'out_of_range', 'rewards[1][1]');
    expectRefusal(refused([2 ** 65, 1]), 'out_of_range', 'rewards[0]');
  });

  it('wrong lengths', () => {
    expectRefusal(refused([1, 2, 3]), 'wrong_length', 'groupSize', '3');
    expectRefusal(refused([[1, 2], [1]]), 'wrong_length', 'rewards[1]', '1');
    expectRefusal(refused([1, 2], 2, { weights: [1, 2] }), 'wrong_length', 'weights', '2');
  });

  it('invalid group sizes and options', () => {
    expectRefusal(refused([1, 2], 0), 'out_of_range', 'groupSize');
    expectRefusal(refused([1, 2], '2'), 'wrong_type', 'groupSize');
    expectRefusal(refused([1, 2], 2, { method: 'gpro' }), 'unknown_name', 'Did you mean "grpo"?');
    expectRefusal(refused([1, 2], 2, { epsilon: 0 }), 'out_of_range', 'epsilon');
    expectRefusal(refused([1, 2], 2, { weights: 1 }), 'wrong_type', 'weights');
    expectRefusal(refused([1, 2], 2, { weights: [nan] }), 'out_of_range', 'weights[0]');
    expectRefusal(refused([1, 2], 2, { weights: [2 ** 21] }), 'out_of_range', 'weights[0]');
    expectRefusal(refused([1, 2], 2, { weight: [1] }), 'unknown_option', 'weights');
  });
});
