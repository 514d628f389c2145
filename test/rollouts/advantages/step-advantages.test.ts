/**
 * Tests of `stepAdvantages`: examples computed by hand, properties, and refused arguments. An anchor state is a state from which
 * rollouts of a group take steps.
 */
import { describe, expect, it } from 'vitest';
import {
  ADVANTAGE_METHODS,
  createVecEnv,
  Episode,
  groupAdvantages,
  rolloutGroups,
  type StepAdvantageOptions,
  type StepRollouts,
  stepAdvantages,
} from '../../../src/index.js';
import { forAll, type Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);
const u32 = (...values: number[]): Uint32Array => Uint32Array.from(values);
const hashes = (...values: number[]): BigUint64Array => BigUint64Array.from(values, BigInt);

describe('examples computed by hand', () => {
  // One group of three rollouts of two steps. All begin in state 1; the first two meet again in state 2.
  const rollouts: StepRollouts = {
    rewards: [1, 4, 1, 0, 0, 2],
    stateHashes: hashes(1, 2, 1, 2, 1, 3),
    groupSize: 3,
    steps: 2,
  };

  // State 1 has the returns 5, 1 and 2, those of whole episodes, with the mean 8/3; state 2 has 4 and 0, with the mean 2.
  it('without division by the std', () => {
    const found = stepAdvantages(rollouts, { method: 'dr-grpo' });
    const episodes = [7 / 3, -5 / 3, -2 / 3];
    expect(found.episodes.advantages).toEqual(f32(...episodes));
    expect(found.returnsToGo).toEqual(f32(5, 4, 1, 0, 2, 2));
    expect(found.anchorSizes).toEqual(u32(3, 2, 3, 2, 3, 1));
    expect(found.stepAdvantages).toEqual(f32(7 / 3, 2, -5 / 3, -2, -2 / 3, 0));
    expect(found.advantages).toEqual(f32(14 / 3, 13 / 3, -10 / 3, -11 / 3, -4 / 3, -2 / 3));
    expect(found.zeroSpread).toBe(1 / 3);
  });

  it('discount 0.5: the returns 1 + 4/2, 1 + 0/2 and 0 + 2/2 in state 1 have the mean 5/3', () => {
    const found = stepAdvantages(rollouts, { method: 'dr-grpo', discount: 0.5 });
    expect(found.returnsToGo).toEqual(f32(3, 4, 1, 0, 1, 2));
    expect(found.stepAdvantages).toEqual(f32(4 / 3, 2, -2 / 3, -2, -2 / 3, 0));
    expect(found.episodes.means).toEqual(f32(8 / 3));
  });

  it('stepWeight weights the advantage of the step', () => {
    const { advantages } = stepAdvantages(rollouts, { method: 'dr-grpo', stepWeight: 0.5 });
    expect(advantages).toEqual(f32(7 / 3 + 7 / 6, 7 / 3 + 1, -5 / 3 - 5 / 6, -5 / 3 - 1, -1, -2 / 3));
    const { advantages: whole, episodes } = stepAdvantages(rollouts, { stepWeight: 0 });
    expect(whole).toEqual(Float32Array.from(whole, (_, i) => episodes.advantages[Math.floor(i / 2)]));
  });

  it('by default an advantage is divided by the std of its group: sqrt(13/3) of 5, 1, 2; sqrt(8) of 4, 0', () => {
    const found = stepAdvantages(rollouts);
    const first = [7 / 3, -5 / 3, -2 / 3].map((distance) => distance / (Math.sqrt(13 / 3) + 1e-4));
    const second = 2 / (Math.sqrt(8) + 1e-4);
    expect(found.stepAdvantages).toEqual(f32(first[0], second, first[1], -second, first[2], 0));
    expect(found.episodes.stds).toEqual(f32(Math.sqrt(13 / 3)));
  });

  it('episodeRewards replaces the sums of step rewards', () => {
    const found = stepAdvantages(rollouts, { method: 'dr-grpo', episodeRewards: [0.5, 0.25, null] });
    expect(found.episodes.advantages).toEqual(f32(0.125, -0.125, 0));
    expect(found.advantages).toEqual(f32(0.125 + 7 / 3, 2.125, -0.125 - 5 / 3, -2.125, -2 / 3, 0));
  });

  it('lengths: steps after the end of a rollout are ignored', () => {
    const shorter = { ...rollouts, lengths: [2, 1, 0] };
    const found = stepAdvantages(shorter, { method: 'dr-grpo' });
    expect(found.returnsToGo).toEqual(f32(5, 4, 1, 0, 0, 0));
    expect(found.anchorSizes).toEqual(u32(2, 1, 2, 0, 0, 0));
    // The third rollout has no step and is left out of the group.
    expect(found.episodes.means).toEqual(f32(3));
    expect(found.advantages).toEqual(f32(2 + 2, 2, -2 - 2, 0, 0, 0));
    expect(found.zeroSpread).toBe(0.5);
  });

  it('firstSteps: steps before the start of a rollout are ignored', () => {
    const later = { ...rollouts, firstSteps: [0, 1, 2] };
    const found = stepAdvantages(later, { method: 'dr-grpo' });
    expect(found.returnsToGo).toEqual(f32(5, 4, 0, 0, 0, 0));
    expect(found.anchorSizes).toEqual(u32(1, 2, 0, 2, 0, 0));
    expect(found.episodes.means).toEqual(f32(5 / 2));
    expect(found.advantages).toEqual(f32(5 / 2, 5 / 2 + 2, 0, -5 / 2 - 2, 0, 0));
    expect(found.zeroSpread).toBe(0.5);
    const over = stepAdvantages({ ...later, lengths: [1, 1, 0] }, { method: 'dr-grpo' });
    expect(over.anchorSizes).toEqual(u32(1, 0, 0, 1, 0, 0));
  });

  it('the same state in two groups is two anchor states', () => {
    const two = { rewards: [1, 3, 10, 30], stateHashes: hashes(7, 7, 7, 7), groupSize: 2, steps: 1 };
    const found = stepAdvantages(two, { method: 'dr-grpo' });
    expect(found.anchorSizes).toEqual(u32(2, 2, 2, 2));
    expect(found.stepAdvantages).toEqual(f32(-1, 1, -10, 10));
  });

  it('compares all 64 bits of hashes', () => {
    const stateHashes = BigUint64Array.of(1n, 1n << 32n, (1n << 32n) | 1n, 2n ** 64n - 1n);
    const found = stepAdvantages({ rewards: [1, 2, 3, 4], stateHashes, groupSize: 4, steps: 1 });
    expect(found.anchorSizes).toEqual(u32(1, 1, 1, 1));
    expect(found.zeroSpread).toBe(1);
  });

  it('no rollouts give empty arrays', () => {
    const found = stepAdvantages({ rewards: [], stateHashes: hashes(), groupSize: 2, steps: 28 });
    expect(found.advantages).toEqual(f32());
    expect(found.zeroSpread).toBe(0);
  });
});

it('rollouts of one seed share the first state and the states after equal actions', () => {
  const sequences = [
    [0, 3, 3],
    [0, 3, 6],
    [1, 3, 3],
  ];
  const rewards = new Float32Array(9);
  const stateHashes = new BigUint64Array(9);
  for (const [row, sequence] of sequences.entries()) {
    const episode = new Episode();
    episode.reset(100);
    for (const [t, action] of sequence.entries()) {
      stateHashes[row * 3 + t] = episode.stateHash();
      rewards[row * 3 + t] = episode.step(action);
    }
  }
  const { anchorSizes } = stepAdvantages({ rewards, stateHashes, groupSize: 3, steps: 3 });
  expect(anchorSizes).toEqual(u32(3, 2, 2, 3, 2, 2, 3, 1, 1));
});

it('rollouts that begin at a later step have anchor states only from that step on', async () => {
  using source = createVecEnv({ numEnvs: 3 });
  source.reset({ seed: 100 });
  source.run('heuristic', { stops: Uint8Array.of(3, 26, 28) });
  const rollouts = await rolloutGroups({
    from: { source, indices: [0, 1, 2] },
    groupSize: 2,
    policy: 'random',
    policySeeds: 5,
  });
  // Both rollouts of a group take the same actions.
  const taken = Array.from(
    { length: 6 * 28 },
    (_, i) => i % 28 >= [3, 3, 26, 26, 28, 28][Math.floor(i / 28)],
  );
  const { anchorSizes, returnsToGo, zeroSpread } = stepAdvantages(rollouts);
  expect(Array.from(anchorSizes)).toEqual(taken.map((wasTaken) => (wasTaken ? 2 : 0)));
  expect(returnsToGo).toEqual(rollouts.returns);
  expect(zeroSpread).toBe(1);
});

/** Draws groups of rollouts with few different states. Rewards are multiples of 1/4, so that sums are exact. */
function draw(random: Random): StepRollouts & { firstSteps: number[]; lengths: number[] } {
  const groupSize = random.integer(1, 5);
  const steps = random.integer(1, 6);
  const length = groupSize * steps * random.integer(1, 4);
  const firstSteps = Array.from({ length: length / steps }, () => random.pick([0, random.integer(0, steps)]));
  return {
    rewards: Float64Array.from({ length }, () => random.integer(-20, 20) / 4),
    stateHashes: BigUint64Array.from({ length }, () => BigInt(random.integer(0, 3))),
    groupSize,
    steps,
    firstSteps,
    lengths: firstSteps.map((first) => random.integer(0, steps - first)),
  };
}

/** Returns whether the step at index i was taken. */
function isTaken({ firstSteps, lengths, steps }: ReturnType<typeof draw>, i: number): boolean {
  const [row, step] = [Math.floor(i / steps), i % steps];
  return step >= firstSteps[row] && step < firstSteps[row] + lengths[row];
}

describe('for all rollouts', () => {
  const options = (random: Random): StepAdvantageOptions => ({
    method: random.pick(ADVANTAGE_METHODS),
    discount: random.pick([0, 0.5, 1]),
    stepWeight: random.pick([0, 0.5, 1, 2]),
  });

  it('step advantages equal groupAdvantages of the returns from the same state', () => {
    forAll(200, (random) => {
      const rollouts = draw(random);
      const method = random.pick(['grpo', 'dr-grpo', 'leave-one-out'] as const);
      const found = stepAdvantages(rollouts, { ...options(random), method });
      const { steps, groupSize, stateHashes } = rollouts;
      for (let i = 0; i < stateHashes.length; i++) {
        const taken = (j: number) => isTaken(rollouts, j);
        if (!taken(i)) continue;
        const groupOf = (j: number) => Math.floor(j / (steps * groupSize));
        const sameState = [...stateHashes.keys()].filter(
          (j) => taken(j) && groupOf(j) === groupOf(i) && stateHashes[j] === stateHashes[i],
        );
        const returns = sameState.map((j) => found.returnsToGo[j]);
        const { advantages } = groupAdvantages(returns, returns.length, { method });
        expect(found.anchorSizes[i]).toBe(sameState.length);
        expect(found.stepAdvantages[i]).toBeCloseTo(advantages[sameState.indexOf(i)], 5);
      }
    });
  });

  it("an advantage is the episode's plus stepWeight times the step's, and 0 where no step was taken", () => {
    forAll(200, (random) => {
      const rollouts = draw(random);
      const { steps } = rollouts;
      const chosen = options(random);
      const found = stepAdvantages(rollouts, chosen);
      for (const [i, advantage] of found.advantages.entries()) {
        const row = Math.floor(i / steps);
        const both = found.episodes.advantages[row] + (chosen.stepWeight as number) * found.stepAdvantages[i];
        expect(advantage).toBeCloseTo(isTaken(rollouts, i) ? both : 0, 4);
      }
    });
  });

  it('the result depends only on which hashes are equal', () => {
    forAll(100, (random) => {
      const rollouts = draw(random);
      const chosen = options(random);
      const other = rollouts.stateHashes.map((hash) => (hash + 1n) * 0x9e3779b97f4a7c15n);
      const renamed = stepAdvantages({ ...rollouts, stateHashes: other }, chosen);
      expect(renamed).toEqual(stepAdvantages(rollouts, chosen));
    });
  });

  it('the rewards of steps not taken are ignored', () => {
    forAll(100, (random) => {
      const rollouts = draw(random);
      const chosen = options(random);
      const rewards = Array.from(rollouts.rewards, (reward, i) =>
        isTaken(rollouts, i) ? reward : random.pick([Number.NaN, null, 99]),
      );
      expect(stepAdvantages({ ...rollouts, rewards }, chosen)).toEqual(stepAdvantages(rollouts, chosen));
    });
  });
});

describe('stepAdvantages refuses', () => {
  const good = { rewards: [1, 2, 3, 4], stateHashes: hashes(1, 2, 3, 4), groupSize: 2, steps: 2 };
  const refused =
    (change: object, options: object = {}) =>
    () =>
      stepAdvantages({ ...good, ...change }, options);

  it('rollouts that are no object, or an array', () => {
    for (const value of [null, undefined, 3, [1, 2]]) {
      expectRefusal(() => stepAdvantages(value as unknown as StepRollouts), 'wrong_type', 'rollouts');
    }
  });

  it('arrays of a wrong type or length, and steps out of range', () => {
    expectRefusal(
      refused({ stateHashes: [1n, 2n, 3n, 4n] }),
      'wrong_type',
      'BigUint64Array',
      'an array of 4',
    );
    expectRefusal(
      refused({ stateHashes: hashes(1, 2, 3) }),
      'wrong_length',
      'a multiple of 4 state hashes (groupSize x steps)',
      '3',
    );
    expectRefusal(refused({ rewards: [1, 2, 3] }), 'wrong_length', 'rewards', '3');
    expectRefusal(refused({ lengths: [1] }), 'wrong_length', 'lengths', '1');
    expectRefusal(refused({ lengths: [1, 3] }), 'out_of_range', 'lengths[1]', '3');
    expectRefusal(refused({ lengths: 2 }), 'wrong_type', 'lengths', '2');
    expectRefusal(refused({ firstSteps: [0] }), 'wrong_length', 'firstSteps', '1');
    expectRefusal(refused({ firstSteps: [0, 3] }), 'out_of_range', 'firstSteps[1]', '3');
    expectRefusal(refused({ firstSteps: 'ab' }), 'wrong_type', 'firstSteps', '"ab"');
    expectRefusal(refused({ firstSteps: [0, 1], lengths: [2, 2] }), 'out_of_range', 'lengths[1]', '0 to 1');
    expectRefusal(refused({}, { episodeRewards: [1] }), 'wrong_length', 'episodeRewards', '1');
  });

  it('a missing reward of a step that was taken', () => {
    expectRefusal(refused({ rewards: [1, 2, null, 4] }), 'out_of_range', 'rewards[2]');
    expectRefusal(refused({ rewards: f32(1, Number.NaN, 3, 4) }), 'out_of_range', 'rewards[1]');
  });

  it('invalid numbers and options', () => {
    expectRefusal(refused({ groupSize: 0 }), 'out_of_range', 'groupSize');
    expectRefusal(refused({ steps: 1.5 }), 'out_of_range', 'steps');
    expectRefusal(refused({}, { discount: 1.1 }), 'out_of_range', 'discount', '1.1');
    expectRefusal(refused({}, { discount: '1' }), 'wrong_type', 'discount');
    expectRefusal(refused({}, { stepWeight: Number.NaN }), 'out_of_range', 'stepWeight');
    expectRefusal(refused({}, { method: 'gigpo' }), 'unknown_name', 'method');
    expectRefusal(refused({}, { gamma: 1 }), 'unknown_option', 'discount');
  });
});
