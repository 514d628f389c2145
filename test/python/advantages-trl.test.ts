/** Advantages equal those that TRL's trainers compute from the same rewards, up to the rounding of TRL's float32 numbers. */
import { describe, expect, it } from 'vitest';
import { ADVANTAGE_METHODS, groupAdvantages } from '../../src/index.js';
import { TRL, tryPython } from '../support/python.js';
import { Random } from '../support/random.js';

/** The arguments of one computation of advantages, without its method. */
interface Input {
  readonly groupSize: number;
  /** One weight for each reward function. */
  readonly weights: readonly number[];
  /** [functions][completions], null for a missing reward. TRL needs at least two completions for its standard deviation. */
  readonly rewards: readonly (readonly (number | null)[])[];
}

interface Answers {
  readonly version: string;
  /** The advantages, and TRL's frac_reward_zero_std. */
  readonly answers: readonly { readonly advantages: readonly number[]; readonly zeroStd: number }[];
}

const random = new Random('trl');

/** Draws a case. Its rewards have few values, so that some groups have no spread. */
function randomCase(groupSize: number, missing: number): Input {
  const count = groupSize * random.integer(2, 4);
  const drawRewards = (): (number | null)[] =>
    Array.from({ length: count }, () => (random.chance(missing) ? null : random.integer(-3, 3) / 2));
  const rewards = Array.from({ length: random.integer(1, 4) }, drawRewards);
  return { groupSize, rewards, weights: rewards.map(() => random.integer(1, 8) / 4) };
}

const constant: Input = {
  groupSize: 4,
  weights: [1],
  rewards: [[0.25, 0.25, 0.25, 0.25, -1, 0, 3, 0.5]],
};
/** Has a group with one reward, a group without rewards, and a reward function without rewards. */
const sparse: Input = {
  groupSize: 2,
  weights: [1, 0.5, 2],
  rewards: [
    [1, null, null, null, 2, 5],
    [null, null, null, null, 1, null],
    [null, null, null, null, null, null],
  ],
};

/** Returns whether a group of two or more completions has fewer than two with a reward. */
function hasLoneReward({ rewards, groupSize }: Input): boolean {
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

const { absent, answer } = tryPython<Answers>('trl', '1.13 or later', 'trl/advantages.py', cases, TRL);
const { version, answers } = answer ?? { version: `NOT COMPARED here: ${absent}`, answers: [] };

describe.skipIf(absent !== null)(`TRL ${version}`, () => {
  it.each(ADVANTAGE_METHODS)(
    "%s: the advantages, and the share of groups without spread, equal TRL's",
    (name) => {
      const shares = new Set<boolean>();
      for (const [k, { method, rewards, weights, groupSize }] of cases.entries()) {
        if (method !== name) continue;
        const ours = groupAdvantages(rewards, groupSize, { method, weights });
        const { advantages, zeroStd } = answers[k];
        expect(ours.advantages).toHaveLength(advantages.length);
        for (const [i, theirs] of advantages.entries())
          expect(ours.advantages[i], `input ${k % inputs.length}`).toBeCloseTo(theirs, 4);
        // With batch normalisation TRL reports the spread of the batch. TRL counts a group of two or more completions as a group
        // with spread if fewer than two of them have a reward.
        if (method === 'batch-normalised' || hasLoneReward({ rewards, weights, groupSize })) continue;
        expect(ours.zeroSpread, `input ${k % inputs.length}`).toBeCloseTo(zeroStd, 6);
        shares.add(zeroStd > 0);
      }
      if (name !== 'batch-normalised') expect(shares).toEqual(new Set([false, true]));
    },
  );
});
