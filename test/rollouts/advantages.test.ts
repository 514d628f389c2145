/**
 * Tests of `groupAdvantages`, `stepAdvantages` and `generalisedAdvantages`: numbers worked by hand, simple implementations on
 * random rollouts, and refused arguments. An anchor state is a state from which rollouts of a group take steps.
 */
import { describe, expect, it } from 'vitest';
import {
  ADVANTAGE_METHODS,
  type AdvantageMethod,
  createVecEnv,
  Episode,
  type ErrorCode,
  generalisedAdvantages,
  groupAdvantages,
  rolloutGroups,
  type StepRollouts,
  stepAdvantages,
  type ValueRollouts,
} from '../../src/index.js';
import { forAll, type Random } from '../support/random.js';
import { expectRefusal } from '../support/refusals.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);
const u32 = (...values: number[]): Uint32Array => Uint32Array.from(values);
const hashes = (...values: number[]): BigUint64Array => BigUint64Array.from(values, BigInt);
const nan = Number.NaN;
const infinity = Number.POSITIVE_INFINITY;
// biome-ignore lint/suspicious/noExplicitAny: tests pass values of wrong types.
type Any = any;

const sumOf = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0);
const meanOf = (list: readonly number[]): number => sumOf(list) / list.length;
const stdOf = (list: readonly number[]): number =>
  list.length < 2 ? 0 : Math.sqrt(sumOf(list.map((x) => (x - meanOf(list)) ** 2)) / (list.length - 1));
const isGiven = (value: number): boolean => !Number.isNaN(value);

/** A simple implementation: the advantage of a reward in its group, both without missing rewards. */
function naiveAdvantage(reward: number, group: number[], all: number[], method: AdvantageMethod): number {
  if (Number.isNaN(reward)) return 0;
  const distance = reward - meanOf(group);
  const divided = {
    grpo: distance / (stdOf(group) + 1e-4),
    'dr-grpo': distance,
    'batch-normalised': distance / (stdOf(all) + 1e-4),
    'leave-one-out': group.length === 1 ? 0 : reward - (sumOf(group) - reward) / (group.length - 1),
  };
  return divided[method];
}

describe('groupAdvantages', () => {
  // Group 0: mean (0 + 1 + 2 + 5) / 4 = 2; squared distances 4 + 1 + 0 + 9 = 14; std sqrt(14 / 3).
  // Group 1: mean 3, no spread.
  const rewards = [0, 1, 2, 5, 3, 3, 3, 3];
  const std = Math.sqrt(14 / 3);
  // All eight: sum 20, mean 2.5; squared distances 6.25 + 2.25 + 0.25 + 6.25 + 4 x 0.25 = 16; std sqrt(16 / 7).
  const batchStd = Math.sqrt(16 / 7);

  it.each<[AdvantageMethod | undefined, number[]]>([
    ['grpo', [-2, -1, 0, 3].map((distance) => distance / (std + 1e-4))],
    [undefined, [-2, -1, 0, 3].map((distance) => distance / (std + 1e-4))],
    ['dr-grpo', [-2, -1, 0, 3]],
    ['batch-normalised', [-2, -1, 0, 3].map((distance) => distance / (batchStd + 1e-4))],
    // 0 - (1+2+5)/3, 1 - (0+2+5)/3, 2 - (0+1+5)/3, 5 - (0+1+2)/3
    ['leave-one-out', [-8 / 3, -4 / 3, 0, 4]],
  ])('by the method %s, computed by hand', (method, first) => {
    expect(groupAdvantages(rewards, 4, { method })).toEqual({
      advantages: f32(...first, 0, 0, 0, 0),
      means: f32(2, 3),
      stds: f32(std, 0),
      zeroSpread: 0.5,
    });
  });

  it('equals a simple implementation for random rewards, some of them missing', () => {
    forAll(500, (random) => {
      const groupSize = random.integer(1, 9);
      const length = groupSize * random.integer(1, 6);
      const missing = random.pick([0, 0.1, 0.5]);
      const drawn = Array.from({ length }, () =>
        random.chance(missing) ? nan : random.integer(-40, 40) / 4,
      );
      const method = random.pick(ADVANTAGE_METHODS);
      const found = groupAdvantages(drawn, groupSize, { method });
      const groups = Array.from({ length: length / groupSize }, (_, g) =>
        drawn.slice(g * groupSize, (g + 1) * groupSize).filter(isGiven),
      );
      for (const [i, reward] of drawn.entries()) {
        const group = groups[Math.floor(i / groupSize)];
        const expected = naiveAdvantage(reward, group, drawn.filter(isGiven), method);
        expect(found.advantages[i]).toBeCloseTo(expected, 4);
      }
      expect(found.means).toEqual(f32(...groups.map(meanOf)));
      for (const [g, group] of groups.entries()) expect(found.stds[g]).toBeCloseTo(stdOf(group), 5);
      expect(found.zeroSpread).toBe(groups.filter((group) => stdOf(group) === 0).length / groups.length);
    });
  });

  it('leaves missing rewards out of the weighted sum over reward functions', () => {
    const format = [1, -2, null, 1];
    const env = Float64Array.of(4, nan, nan, 2);
    // Completions: 1 + 0.5 x 4 = 3; -2; no reward; 1 + 0.5 x 2 = 2. Mean of the three: 1.
    const { advantages, means } = groupAdvantages([format, env], 4, { method: 'dr-grpo', weights: [1, 0.5] });
    expect(advantages).toEqual(f32(2, -3, 0, 1));
    expect(means).toEqual(f32(1));
    expect(format).toEqual([1, -2, null, 1]);
  });

  it('has epsilon added to the std: a distance of 1 over sqrt(2) + 0.5', () => {
    const { advantages } = groupAdvantages([1, 3], 2, { epsilon: 0.5 });
    expect(advantages).toEqual(f32(-1 / (Math.SQRT2 + 0.5), 1 / (Math.SQRT2 + 0.5)));
  });

  it.each(ADVANTAGE_METHODS)('by the method %s has no advantage without two different rewards', (method) => {
    expect(groupAdvantages([5, null, null, null], 2, { method })).toEqual({
      advantages: f32(0, 0, 0, 0),
      means: f32(5, nan),
      stds: f32(0, 0),
      zeroSpread: 1,
    });
    // Equal rewards, in spite of rounding.
    const { advantages, stds, zeroSpread } = groupAdvantages(Array(7).fill(0.1), 7, { method });
    expect([advantages, stds, zeroSpread]).toEqual([new Float32Array(7), f32(0), 1]);
  });

  it('counts a std that is a rounding error as zero spread, and does not overflow', () => {
    const rounded = groupAdvantages([Float64Array.of(0.1, 0.3), Float64Array.of(0.2, 0)], 2);
    expect(rounded.stds[0]).toBeGreaterThan(0);
    expect(rounded.zeroSpread).toBe(1);
    const { advantages, stds } = groupAdvantages([2 ** 64, -(2 ** 64)], 2, { weights: [2 ** 20] });
    expect(advantages).toEqual(f32(Math.SQRT1_2, -Math.SQRT1_2));
    expect(stds[0]).toBe(Math.fround(Math.SQRT2 * 2 ** 84));
    expect(groupAdvantages([], 4)).toEqual({ advantages: f32(), means: f32(), stds: f32(), zeroSpread: 0 });
  });
});

/** Draws groups of rollouts with few different states. Rewards are multiples of 1/4, so that sums are exact. */
function draw(random: Random) {
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

describe('stepAdvantages', () => {
  // One group of three rollouts of two steps. All begin in state 1; the first two meet again in state 2.
  const rollouts: StepRollouts = {
    rewards: [1, 4, 1, 0, 0, 2],
    stateHashes: hashes(1, 2, 1, 2, 1, 3),
    groupSize: 3,
    steps: 2,
  };

  // State 1 has the returns 5, 1 and 2, those of whole episodes, with the mean 8/3; state 2 has 4 and 0, with the mean 2.
  it('compares returns from the same state, computed by hand', () => {
    const found = stepAdvantages(rollouts, { method: 'dr-grpo' });
    expect(found.episodes.advantages).toEqual(f32(7 / 3, -5 / 3, -2 / 3));
    expect(found.returnsToGo).toEqual(f32(5, 4, 1, 0, 2, 2));
    expect(found.anchorSizes).toEqual(u32(3, 2, 3, 2, 3, 1));
    expect(found.stepAdvantages).toEqual(f32(7 / 3, 2, -5 / 3, -2, -2 / 3, 0));
    expect(found.advantages).toEqual(f32(14 / 3, 13 / 3, -10 / 3, -11 / 3, -4 / 3, -2 / 3));
    expect(found.zeroSpread).toBe(1 / 3);
  });

  it('divides by the std of a group by default: sqrt(13/3) of 5, 1, 2; sqrt(8) of 4, 0', () => {
    const found = stepAdvantages(rollouts);
    const first = [7 / 3, -5 / 3, -2 / 3].map((distance) => distance / (Math.sqrt(13 / 3) + 1e-4));
    const second = 2 / (Math.sqrt(8) + 1e-4);
    expect(found.stepAdvantages).toEqual(f32(first[0], second, first[1], -second, first[2], 0));
    expect(found.episodes.stds).toEqual(f32(Math.sqrt(13 / 3)));
    expect(found.advantages[0]).toBe(Math.fround(2 * first[0]));
  });

  it('takes episodeRewards instead of the sums of step rewards', () => {
    const found = stepAdvantages(rollouts, { method: 'dr-grpo', episodeRewards: [0.5, 0.25, null] });
    expect(found.episodes.advantages).toEqual(f32(0.125, -0.125, 0));
    expect(found.advantages).toEqual(f32(0.125 + 7 / 3, 2.125, -0.125 - 5 / 3, -2.125, -2 / 3, 0));
  });

  it('compares all 64 bits of hashes, and accepts no rollouts', () => {
    const stateHashes = BigUint64Array.of(1n, 1n << 32n, (1n << 32n) | 1n, 2n ** 64n - 1n);
    const found = stepAdvantages({ rewards: [1, 2, 3, 4], stateHashes, groupSize: 4, steps: 1 });
    expect(found.anchorSizes).toEqual(u32(1, 1, 1, 1));
    expect(found.zeroSpread).toBe(1);
    const none = stepAdvantages({ rewards: [], stateHashes: hashes(), groupSize: 2, steps: 28 });
    expect([none.advantages, none.zeroSpread]).toEqual([f32(), 0]);
  });

  it('equals a simple implementation for random rollouts, and ignores the rewards of steps not taken', () => {
    forAll(300, (random) => {
      const drawn = draw(random);
      const { steps, groupSize, stateHashes, firstSteps, lengths } = drawn;
      const method = random.pick(['grpo', 'dr-grpo', 'leave-one-out'] as const);
      const [discount, stepWeight] = [random.pick([0, 0.5, 1]), random.pick([0, 0.5, 1, 2])];
      const rewards = Array.from(drawn.rewards, (reward, i) =>
        isTaken(drawn, i) ? reward : random.pick([nan, null, 99]),
      );
      const found = stepAdvantages({ ...drawn, rewards }, { method, discount, stepWeight });
      const sums = firstSteps.map((first, row) => {
        const own = drawn.rewards.slice(row * steps + first, row * steps + first + lengths[row]);
        return own.length === 0 ? nan : sumOf([...own]);
      });
      expect(found.episodes).toEqual(groupAdvantages(sums, groupSize, { method }));
      const taken = [...stateHashes.keys()].filter((i) => isTaken(drawn, i));
      const groupOf = (i: number) => Math.floor(i / (steps * groupSize));
      for (const i of stateHashes.keys()) {
        const step = { advantage: 0, size: 0, toGo: 0, weighted: 0 };
        if (isTaken(drawn, i)) {
          const row = Math.floor(i / steps);
          const next = isTaken(drawn, i + 1) && (i + 1) % steps !== 0 ? found.returnsToGo[i + 1] : 0;
          const anchor = taken.filter((j) => groupOf(j) === groupOf(i) && stateHashes[j] === stateHashes[i]);
          const returns = anchor.map((j) => found.returnsToGo[j]);
          step.toGo = drawn.rewards[i] + discount * next;
          step.size = anchor.length;
          step.advantage = naiveAdvantage(found.returnsToGo[i], returns, returns, method);
          step.weighted = found.episodes.advantages[row] + stepWeight * step.advantage;
        }
        expect(found.returnsToGo[i]).toBeCloseTo(step.toGo, 5);
        expect(found.anchorSizes[i]).toBe(step.size);
        expect(found.stepAdvantages[i]).toBeCloseTo(step.advantage, 4);
        expect(found.advantages[i]).toBeCloseTo(step.weighted, 4);
      }
      const states = new Set(taken.map((i) => `${groupOf(i)} ${stateHashes[i]}`));
      const flat = [...states].filter((state) => {
        const own = taken.filter((i) => `${groupOf(i)} ${stateHashes[i]}` === state);
        return stdOf(own.map((i) => found.returnsToGo[i])) < 1e-8;
      });
      expect(found.zeroSpread).toBe(flat.length / Math.max(states.size, 1));
    });
  });

  it('finds the states that rollouts of one seed share: the first, and those after equal actions', () => {
    const sequences = [0, 3, 3, 0, 3, 6, 1, 3, 3];
    const episode = new Episode();
    const [rewards, stateHashes] = [new Float32Array(9), new BigUint64Array(9)];
    for (const [i, action] of sequences.entries()) {
      if (i % 3 === 0) episode.reset(100);
      stateHashes[i] = episode.stateHash();
      rewards[i] = episode.step(action);
    }
    const { anchorSizes } = stepAdvantages({ rewards, stateHashes, groupSize: 3, steps: 3 });
    expect(anchorSizes).toEqual(u32(3, 2, 2, 3, 2, 2, 3, 1, 1));
  });

  it('accepts rollouts that begin at a later step', async () => {
    using source = createVecEnv({ numEnvs: 3 });
    source.reset({ seed: 100 });
    source.run('heuristic', { stops: Uint8Array.of(3, 26, 28) });
    const from = { source, indices: [0, 1, 2] };
    const groups = await rolloutGroups({ from, groupSize: 2, policy: 'random', policySeeds: 5 });
    // Both rollouts of a group take the same actions.
    const firstOf = (i: number) => [3, 3, 26, 26, 28, 28][Math.floor(i / 28)];
    const { anchorSizes, returnsToGo, zeroSpread } = stepAdvantages(groups);
    expect(anchorSizes).toEqual(
      Uint32Array.from({ length: 6 * 28 }, (_, i) => (i % 28 >= firstOf(i) ? 2 : 0)),
    );
    expect(returnsToGo).toEqual(groups.returns);
    expect(zeroSpread).toBe(1);
  });
});

describe('generalisedAdvantages', () => {
  const episode: ValueRollouts = { rewards: [1, 2, 4], values: [8, 2, 1], steps: 3 };
  const half = { gamma: 0.5, lambda: 0.5 };

  it('adds to the temporal difference gamma lambda times the next advantage', () => {
    // gamma lambda = 1/4. Step 2: 4 - 1 = 3. Step 1: 2 + 1/2 - 2 + 3/4 = 5/4. Step 0: 1 + 1 - 8 + 5/16 = -91/16.
    const found = generalisedAdvantages(episode, half);
    expect(found.advantages).toEqual(f32(-91 / 16, 5 / 4, 3));
    expect(found.returns).toEqual(f32(8 - 91 / 16, 13 / 4, 4));
    // Step 2: 4 + 3 - 1 = 6. Step 1 terminates: 2 - 2 = 0. Step 0: 1 + 1 - 8 = -6.
    const unfinished = { ...episode, terminated: [false, true, false], lastValues: [6] };
    expect(generalisedAdvantages(unfinished, half).advantages).toEqual(f32(-6, 0, 6));
  });

  it('gives a step that was not taken the advantage 0, and the steps around it are adjacent', () => {
    const masked = { rewards: [1, nan, 2, 4], values: [8, nan, 2, 1], taken: [1, 0, 1, 1], steps: 4 };
    const found = generalisedAdvantages(masked, half);
    expect(found.advantages).toEqual(f32(-91 / 16, 0, 5 / 4, 3));
    expect(found.returns).toEqual(f32(8 - 91 / 16, 0, 13 / 4, 4));
    const [rewards, values] = [f32(9, 1, 2, 4, 9, 9, 9, 9), f32(9, 8, 2, 1, 9, 9, 9, 9)];
    const later = { rewards, values, steps: 4, firstSteps: [1, 4] };
    const bounded = generalisedAdvantages(later, half).advantages;
    expect(bounded).toEqual(f32(0, -91 / 16, 5 / 4, 3, 0, 0, 0, 0));
    const { advantages } = generalisedAdvantages({ ...later, lengths: [1, 0] }, { gamma: 0.5 });
    expect(advantages).toEqual(f32(0, -7, 0, 0, 0, 0, 0, 0));
  });

  /**
   * Three environments of five steps, [steps, n]. The expected numbers are those of the loop of CleanRL's ppo.py (commit
   * 020cf0e5), written with NumPy 2.4.6 in float64; its `dones[t + 1]` is `terminated` of step t.
   */
  const batch: ValueRollouts = {
    rewards: [0.5, -1, 0.25, 1.5, 0.75, -0.5, -0.25, 2, 1, 0.125, -0.375, 0.625, 1, 0.5, -2],
    values: [0.2, 0.4, -0.1, 0.6, -0.3, 0.8, 0.1, 0.9, -0.7, -0.4, 0.35, 0.55, 0.65, -0.15, 0.05],
    terminated: [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    lastValues: [0.3, -0.6, 0.9],
    steps: 5,
    timeMajor: true,
  };
  const defaults = f32(
    ...[1.6104452786906251, -0.709475, -0.24743658122056567, 0.7617706312500001, 1.05],
    ...[-1.4773382043812502, -0.25223749999999995, 0.674507504, 0.5482847375, 0.525],
    ...[-0.8208319999999999, -1.803525, 0.6469999999999999, 0.05600000000000002, -2.05],
  );

  it("equals CleanRL's formula, with gamma 0.99 and lambda 0.95 by default", () => {
    expect(generalisedAdvantages(batch).advantages).toEqual(defaults);
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
    const { rewards, values, terminated, ...rest } = batch;
    const lists = { rewards: transposed(rewards), values: transposed(values) };
    const rows = { ...rest, ...lists, terminated: transposed(terminated!), timeMajor: false };
    expect(generalisedAdvantages(rows).advantages).toEqual(f32(...transposed(defaults)));
  });

  it('has the returns of rolloutGroups with values of 0 and lambda 1', async () => {
    const rollouts = await rolloutGroups({ seeds: [7, 8], groupSize: 2, policy: 'random', gamma: 0.9 });
    const values = new Float32Array(rollouts.rewards.length);
    const { advantages, returns } = generalisedAdvantages({ ...rollouts, values }, { gamma: 0.9, lambda: 1 });
    expect([returns, advantages]).toEqual([rollouts.returns, rollouts.returns]);
  });

  it('stops at the ends of episodes in the stored steps of an environment with autoreset next-step', () => {
    using env = createVecEnv({ numEnvs: 2, autoreset: 'next-step' });
    env.reset({ seed: 3 });
    const [rewards, terminated, taken] = [[], [], []] as number[][];
    for (let t = 0; t < 60; t++) {
      taken.push(...(t === 0 ? [1, 1] : terminated.slice(-2).map((ended) => 1 - ended)));
      const result = env.step([t % 10, (3 * t) % 10]);
      rewards.push(...result.rewards);
      terminated.push(...result.terminated);
    }
    const shape = { steps: 60, timeMajor: true, values: rewards.map(() => 0), lastValues: [0, 0] };
    const stored = { ...shape, rewards, terminated, taken };
    const { returns } = generalisedAdvantages(stored, { gamma: 1, lambda: 1 });
    const firstOfEnv0 = rewards.filter((_, i) => i % 2 === 0);
    // Step 28 only resets; the second episode has the steps 29 to 56.
    expect(returns[0]).toBeCloseTo(sumOf(firstOfEnv0.slice(0, 28)), 4);
    expect(returns[28 * 2]).toBe(0);
    expect(returns[29 * 2]).toBeCloseTo(sumOf(firstOfEnv0.slice(29, 57)), 4);
  });
});

describe('refused, with the code and the place:', () => {
  const group = (rewards: Any, options: object = {}, size: Any = 2) =>
    groupAdvantages(rewards, size, options);
  const four = { rewards: [1, 2, 3, 4], stateHashes: hashes(1, 2, 3, 4), groupSize: 2, steps: 2 };
  const step = (change: object, options: object = {}) => stepAdvantages({ ...four, ...change }, options);
  const two: ValueRollouts = { rewards: [1, 2], values: [1, 2], steps: 2 };
  const gae = (change: object, options: object = {}) => generalisedAdvantages({ ...two, ...change }, options);

  it.each<[ErrorCode, string, call: () => unknown]>([
    ['wrong_type', 'rewards', () => group('rewards')],
    ['wrong_type', 'rewards[1]', () => group([[1, 2], 3])],
    ['wrong_type', 'rewards[1]', () => group([1, '2'])],
    ['wrong_type', 'rewards[0]', () => group(new Array(2))],
    ['wrong_type', 'rewards[0]', () => group(BigInt64Array.of(1n, 2n))],
    ['out_of_range', 'the number of rewards', () => group(new Array(2 ** 32 - 1))],
    ['out_of_range', 'rewards[1][1]', () => group([[1, 2], f32(1, infinity)])],
    ['out_of_range', 'rewards[0]', () => group([2 ** 65, 1])],
    ['wrong_length', 'groupSize', () => group([1, 2, 3])],
    ['wrong_length', 'rewards[1]', () => group([[1, 2], [1]])],
    ['out_of_range', 'groupSize', () => group([1, 2], {}, 0)],
    ['wrong_type', 'groupSize', () => group([1, 2], {}, '2')],
    ['unknown_name', 'Did you mean "grpo"?', () => group([1, 2], { method: 'gpro' })],
    ['out_of_range', 'epsilon', () => group([1, 2], { epsilon: 0 })],
    ['wrong_length', 'weights', () => group([1, 2], { weights: [1, 2] })],
    ['wrong_type', 'weights', () => group([1, 2], { weights: 1 })],
    ['out_of_range', 'weights[0]', () => group([1, 2], { weights: [nan] })],
    ['out_of_range', 'weights[0]', () => group([1, 2], { weights: [2 ** 21] })],
    ['unknown_option', 'weights', () => group([1, 2], { weight: [1] })],
    ['wrong_type', 'rollouts', () => stepAdvantages(null as Any)],
    ['wrong_type', 'rollouts', () => stepAdvantages([1, 2] as Any)],
    ['wrong_type', 'BigUint64Array', () => step({ stateHashes: [1n, 2n, 3n, 4n] })],
    ['wrong_length', 'state hashes', () => step({ stateHashes: hashes(1, 2, 3) })],
    ['wrong_length', 'rewards', () => step({ rewards: [1, 2, 3] })],
    ['wrong_length', 'lengths', () => step({ lengths: [1] })],
    ['out_of_range', 'lengths[1]', () => step({ lengths: [1, 3] })],
    ['wrong_type', 'lengths', () => step({ lengths: 2 })],
    ['out_of_range', 'firstSteps[1]', () => step({ firstSteps: [0, 3] })],
    ['wrong_type', 'firstSteps', () => step({ firstSteps: 'ab' })],
    ['out_of_range', 'lengths[1]', () => step({ firstSteps: [0, 1], lengths: [2, 2] })],
    ['out_of_range', 'rewards[2]', () => step({ rewards: [1, 2, null, 4] })],
    ['out_of_range', 'groupSize', () => step({ groupSize: 0 })],
    ['out_of_range', 'steps', () => step({ steps: 1.5 })],
    ['wrong_length', 'episodeRewards', () => step({}, { episodeRewards: [1] })],
    ['out_of_range', 'discount', () => step({}, { discount: 1.1 })],
    ['wrong_type', 'discount', () => step({}, { discount: '1' })],
    ['out_of_range', 'stepWeight', () => step({}, { stepWeight: nan })],
    ['unknown_option', 'discount', () => step({}, { gamma: 1 })],
    ['wrong_type', 'rewards', () => gae({ rewards: 3 })],
    ['wrong_length', 'rewards', () => gae({ steps: 3 })],
    ['wrong_type', 'values', () => gae({ values: undefined })],
    ['wrong_length', 'values', () => gae({ values: [1] })],
    ['wrong_length', 'terminated', () => gae({ terminated: [0] })],
    ['wrong_length', 'lastValues', () => gae({ terminated: [0, 0] })],
    ['wrong_length', 'lastValues', () => gae({ terminated: [0, 0], lastValues: [1, 2] })],
    [
      'out_of_range',
      'rewards[1], got null. Pass finite numbers, and taken',
      () => gae({ rewards: [1, null] }),
    ],
    ['out_of_range', 'values[0]', () => gae({ values: [infinity, 1] })],
    ['out_of_range', 'firstSteps[0]', () => gae({ firstSteps: [3] })],
    ['wrong_type', 'timeMajor', () => gae({ timeMajor: 1 })],
    ['out_of_range', 'gamma', () => gae({}, { gamma: 1.5 })],
    ['out_of_range', 'lambda', () => gae({}, { lambda: -0.1 })],
    ['unknown_option', 'gamma', () => gae({}, { discount: 0.9 })],
  ])('%s, %s', (code, place, call) => {
    expectRefusal(call, code, place);
  });
});
