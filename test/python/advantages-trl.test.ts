/** Advantages equal those that TRL's trainers compute from the same rewards, up to the rounding of TRL's float32 numbers. */
import { describe, expect, it, test } from 'vitest';
import { ADVANTAGE_METHODS, groupAdvantages } from '../../src/index.js';
import { Random } from '../support/random.js';
import { type Case, tryTrl } from '../support/trl.js';

const random = new Random('trl');

/** Draws a case. Its rewards have few values, so that some groups have no spread. */
function randomCase(groupSize: number, missing: number): Omit<Case, 'method'> {
  const count = groupSize * random.integer(2, 4);
  const drawRewards = (): (number | null)[] =>
    Array.from({ length: count }, () => (random.chance(missing) ? null : random.integer(-3, 3) / 2));
  const rewards = Array.from({ length: random.integer(1, 4) }, drawRewards);
  return { groupSize, rewards, weights: rewards.map(() => random.integer(1, 8) / 4) };
}

const constant: Omit<Case, 'method'> = {
  groupSize: 4,
  weights: [1],
  rewards: [[0.25, 0.25, 0.25, 0.25, -1, 0, 3, 0.5]],
};
/** Has a group with one reward, a group without rewards, and a reward function without rewards. */
const sparse: Omit<Case, 'method'> = {
  groupSize: 2,
  weights: [1, 0.5, 2],
  rewards: [
    [1, null, null, null, 2, 5],
    [null, null, null, null, 1, null],
    [null, null, null, null, null, null],
  ],
};

/** Returns whether a group of two or more completions has fewer than two with a reward. */
function hasLoneReward({ rewards, groupSize }: Omit<Case, 'method'>): boolean {
  const scored = rewards[0].map((_, i) => rewards.some((list) => list[i] !== null));
  const groups = Array.from({ length: scored.length / groupSize }, (_, g) =>
    scored.slice(g * groupSize, (g + 1) * groupSize),
  );
  return groupSize > 1 && groups.some((group) => group.filter(Boolean).length < 2);
}

const inputs = [
  constant,
  sparse,
  ...[2, 3, 8].flatMap((size) => [randomCase(size, 0), randomCase(size, 0.3)]),
  randomCase(1, 0),
];
const cases = ADVANTAGE_METHODS.flatMap((method) => inputs.map((each) => ({ method, ...each })));

const { absent, answer } = tryTrl(cases);
if (absent !== null) test.skip(`TRL: NOT COMPARED here: ${absent}`, () => {});
const { version, answers } = answer ?? { version: 'none', answers: [] };

describe.runIf(absent === null)(`TRL ${version}`, () => {
  const results = cases.map((each, k) => ({ ...each, ...answers[k], k: k % inputs.length }));

  it.each(results)(
    '$method, case $k: the advantages equal those of TRL',
    ({ rewards, weights, groupSize, method, advantages }) => {
      const ours = groupAdvantages(rewards, groupSize, { method, weights }).advantages;
      expect(ours).toHaveLength(advantages.length);
      for (const [i, theirs] of advantages.entries()) expect(ours[i]).toBeCloseTo(theirs, 4);
    },
  );

  // With batch normalisation TRL reports the spread of the batch. TRL counts a group of two or more completions as a group with
  // spread if fewer than two of them have a reward.
  const comparable = results.filter((each) => each.method !== 'batch-normalised' && !hasLoneReward(each));
  it.each(comparable)(
    '$method, case $k: the share of groups without spread equals that of TRL',
    ({ zeroStd, ...each }) => {
      const { method, weights, rewards, groupSize } = each;
      const { zeroSpread } = groupAdvantages(rewards, groupSize, { method, weights });
      expect(zeroSpread).toBeCloseTo(zeroStd, 6);
    },
  );

  it('the cases include groups with and without spread', () => {
    const shares = comparable.map(({ zeroStd }) => zeroStd);
    expect(shares).toContain(0);
    expect(shares.some((share) => share > 0)).toBe(true);
  });
});
