/** Tests of `rewardStack`: each reward and shaping term at its limits, and random rows. */
import { describe, expect, it } from 'vitest';
import {
  groupAdvantages,
  REWARD_NAMES,
  type RewardRows,
  type RewardStackOptions,
  rewardStack,
} from '../../../src/index.js';
import { forAll, type Random } from '../../support/random.js';
import { sequence } from '../../support/rewards.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);
const nan = Number.NaN;

describe('each reward on its own', () => {
  // Parsed: action and belief, only the action, only the belief, neither. The values 9 must not count.
  const rows: RewardRows = {
    actions: [3, 0, -1, -1],
    given: [true, false, true, false],
    stepRewards: [1.25, -0.75, 9, 9],
    beliefMae: [0.125, 9, 0.75, 9],
  };
  const stack = (change: object = {}, options: RewardStackOptions = {}) =>
    rewardStack({ ...rows, beliefMae: [0.125, nan, 0.75, nan], ...change }, options);

  it('format_valid: 1 when belief and action both parse, else -2', () => {
    expect(stack().formatValid).toEqual(f32(1, -2, -2, -2));
  });

  it('action_legal: 0.5 when the action is one of the ten, else -1', () => {
    expect(stack().actionLegal).toEqual(f32(0.5, 0.5, -1, -1));
    const actions = Array.from({ length: 11 }, (_, k) => k - 1);
    const all = {
      actions,
      given: Array(11).fill(1),
      stepRewards: f32(...actions),
      beliefMae: new Float32Array(11),
    };
    expect(rewardStack(all).actionLegal).toEqual(f32(-1, ...Array(10).fill(0.5)));
  });

  it('env_reward: the reward of the step, -3 without an action', () => {
    expect(stack().envReward).toEqual(f32(1.25, -0.75, -3, -3));
  });

  it('belief_accuracy: 0.5 minus the mean absolute error, -0.5 without a belief', () => {
    expect(stack().beliefAccuracy).toEqual(f32(0.375, -0.5, -0.25, -0.5));
    const ends = stack({ given: [1, 1, 1, 1], beliefMae: [0, 0.5, 1, 0.25] });
    expect(ends.beliefAccuracy).toEqual(f32(0.5, 0, -0.5, 0.25));
  });

  it('belief_skill: the value of beliefSkill, -1 without a belief', () => {
    const found = stack({ beliefSkill: [0.625, 9, -1, nan] });
    expect(found.beliefSkill).toEqual(f32(0.625, -1, -1, -1));
    expect(
      stack({ given: [1, 1, 1, 1], beliefMae: [0, 0, 0, 0], beliefSkill: [0, 1, -1, nan] }).beliefSkill,
    ).toEqual(f32(0, 1, -1, nan));
  });

  it('belief_skill is NaN in all rows without the array beliefSkill, and the other rewards are the same', () => {
    const { beliefSkill, total: _, ...others } = stack();
    expect(beliefSkill).toEqual(f32(nan, nan, nan, nan));
    expect(stack({ beliefSkill: [0.5, 0, 0.25, 0] })).toMatchObject(others);
  });

  it('stepRewards does not count without an action, nor beliefMae without a belief', () => {
    expect(rewardStack(rows)).toEqual(stack());
    expect(rewardStack({ ...rows, stepRewards: [1.25, -0.75, nan, Number.POSITIVE_INFINITY] })).toEqual(
      stack(),
    );
  });

  it('total: the sum of the rewards that are not missing', () => {
    const sums = [1 + 0.5 + 1.25 + 0.375, -2 + 0.5 - 0.75 - 0.5, -2 - 1 - 3 - 0.25, -2 - 1 - 3 - 0.5];
    expect(stack().total).toEqual(f32(...sums));
    const skill = [0.625, -1, -0.25, -1];
    expect(stack({ beliefSkill: skill }).total).toEqual(f32(...sums.map((sum, row) => sum + skill[row])));
  });

  it('total: the weighted sum; weights are 1 by default', () => {
    const { total } = rewardStack(rows, { weights: { formatValid: 0, envReward: 2 } });
    expect(total).toEqual(f32(0.5 + 2.5 + 0.375, 0.5 - 1.5 - 0.5, -1 - 6 - 0.25, -7.5));
    for (const [k, name] of REWARD_NAMES.entries()) {
      const weights = Object.fromEntries(REWARD_NAMES.map((each, j) => [each, Number(j === k)]));
      const alone = stack({ beliefSkill: [0.625, 0, -0.25, 0] }, { weights });
      expect(alone.total).toEqual(alone[name]);
    }
  });

  it('weights change only the total', () => {
    const { total: _, ...rewards } = rewardStack(rows, { weights: { envReward: 7 } });
    const { total: __, ...plain } = rewardStack(rows);
    expect(rewards).toEqual(plain);
    expect(Object.keys(rewards)).toEqual(REWARD_NAMES);
  });

  it('a missing reward is NaN and left out of the total', () => {
    const found = stack({ stepRewards: [nan, 1, 0, 0], beliefMae: [nan, nan, 0.5, nan] });
    expect(found.envReward).toEqual(f32(nan, 1, -3, -3));
    expect(found.beliefAccuracy).toEqual(f32(nan, -0.5, 0, -0.5));
    expect(found.total).toEqual(f32(1.5, -2 + 0.5 + 1 - 0.5, -2 - 1 - 3, -6.5));
  });

  it('groupAdvantages gives equal advantages for the five rewards and for their total', () => {
    const found = stack({ beliefSkill: [0.625, 0, nan, 0] });
    const lists = REWARD_NAMES.map((name) => found[name]);
    expect(groupAdvantages(lists, 4)).toEqual(groupAdvantages(found.total, 4));
  });

  it('no rows give empty arrays', () => {
    const none = rewardStack({ actions: [], given: [], stepRewards: [], beliefMae: [] });
    for (const name of [...REWARD_NAMES, 'total'] as const) expect(none[name]).toEqual(f32());
  });
});

/** Returns the env_reward of an action after a history. @param reward the reward of the step. */
function shapedReward(shaping: RewardStackOptions['shaping'], history: number[], action: number, reward = 0) {
  const rows: RewardRows = {
    actions: [action],
    given: [1],
    stepRewards: [reward],
    beliefMae: [0],
    histories: Uint8Array.from(sequence(...history)),
    stepIndices: [history.length],
  };
  return rewardStack(rows, { shaping }).envReward[0];
}

describe('repetition: -0.4 if there are at most two different actions among the last six', () => {
  const after = (history: number[], action: number) => shapedReward({ repetition: true }, history, action);
  const penalty = Math.fround(-0.4);

  it.each<[string, number[], number, number]>([
    ['not for five actions in all', [3, 3, 3, 3], 3, 0],
    ['for six equal actions', [3, 3, 3, 3, 3], 3, penalty],
    ['for two different actions', [3, 5, 3, 5, 3], 5, penalty],
    ['for two different actions, one of them new', [3, 3, 3, 3, 3], 5, penalty],
    ['not for three different actions, one of them new', [3, 5, 3, 5, 3], 0, 0],
    ['not with a third action among the previous actions', [3, 5, 0, 5, 3], 5, 0],
    ['not with a third action as the sixth last', [0, 3, 5, 3, 5], 3, 0],
    ['with a third action as the seventh last', [0, 3, 5, 3, 5, 3], 5, penalty],
    ['late in the episode', [...Array(22).fill(9), 1, 2, 1, 2, 1], 2, penalty],
    ['for the first and the last action code', [0, 9, 0, 9, 0], 9, penalty],
  ])('%s', (_, history, action, expected) => {
    expect(after(history, action)).toBe(expected);
  });
});

describe('exploration: +0.2 for a new action after fewer than six different actions', () => {
  const after = (history: number[], action: number) => shapedReward({ exploration: true }, history, action);
  const bonus = Math.fround(0.2);

  it.each<[string, number[], number, number]>([
    ['for the first action of the episode', [], 4, bonus],
    ['not for the same action again', [4], 4, 0],
    ['not for an action taken long before', [4, 1, 1, 1, 1, 1, 1, 1, 1], 4, 0],
    ['for a sixth action', [0, 1, 2, 3, 4], 5, bonus],
    ['not for a seventh action', [0, 1, 2, 3, 4, 5], 6, 0],
    ['counts different actions, not steps', [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4], 9, bonus],
    ['for a new action in the last step', Array(27).fill(7), 8, bonus],
  ])('%s', (_, history, action, expected) => {
    expect(after(history, action)).toBe(expected);
  });
});

describe('shaping', () => {
  const both = { repetition: true, exploration: true };

  it('both terms are off by default', () => {
    expect(shapedReward(undefined, Array(5).fill(3), 5)).toBe(0);
    expect(shapedReward({}, Array(5).fill(3), 5)).toBe(0);
    expect(shapedReward({ repetition: false, exploration: true }, Array(5).fill(3), 3)).toBe(0);
  });

  it('adds repetition first; each sum rounds to float32', () => {
    const { fround } = Math;
    const exact = fround(fround(fround(1.7) + fround(-0.4)) + fround(0.2));
    expect(shapedReward(both, Array(5).fill(3), 5, 1.7)).toBe(exact);
  });

  it('changes only env_reward and the total, and only with an action', () => {
    const rows: RewardRows = {
      actions: [-1, 3],
      given: [0, 1],
      stepRewards: [0, 0],
      beliefMae: [0, 0.5],
      histories: Uint8Array.from([...sequence(), ...sequence()]),
      stepIndices: [0, 0],
    };
    const shaped = rewardStack(rows, { shaping: both });
    const { envReward, total, ...others } = rewardStack(rows);
    expect(shaped).toMatchObject(others);
    expect(envReward).toEqual(f32(-3, 0));
    expect(shaped.envReward).toEqual(f32(-3, 0.2));
    expect(shaped.total).toEqual(f32(total[0], total[1] + Math.fround(0.2)));
  });

  it('uses the history of each row', () => {
    const rows: RewardRows = {
      actions: Int8Array.of(3, 3, 3),
      given: [1, 1, 1],
      stepRewards: [0, 0, 0],
      beliefMae: [0, 0, 0],
      histories: Uint8Array.from([...sequence(3, 3, 3, 3, 3), ...sequence(), ...sequence(3)]),
      stepIndices: Uint8Array.of(5, 0, 1),
    };
    expect(rewardStack(rows, { shaping: both }).envReward).toEqual(f32(-0.4, 0.2, 0));
  });
});

/** A simple implementation of the shaping terms of docs/world.md, "The GRPO reward stack". */
function plainShaping(history: readonly number[], action: number): number {
  const all = [...history, action];
  const repeats = all.length >= 6 && new Set(all.slice(-6)).size <= 2;
  const explores = !history.includes(action) && new Set(history).size < 6;
  return (repeats ? -0.4 : 0) + (explores ? 0.2 : 0);
}

describe('for all rows', () => {
  function draw(random: Random) {
    const n = random.integer(1, 20);
    const maxCode = random.integer(0, 9);
    const histories = Array.from({ length: n }, () =>
      Array.from({ length: random.integer(0, 27) }, () => random.integer(0, maxCode)),
    );
    const rows: RewardRows = {
      actions: Array.from({ length: n }, () => random.integer(-1, maxCode)),
      given: random.mask(n, 0.7),
      stepRewards: Float32Array.from({ length: n }, () => random.real(-5, 5)),
      beliefMae: Float32Array.from({ length: n }, () => random.real()),
      beliefSkill: Float32Array.from({ length: n }, () => random.real(-1, 1)),
      histories: Uint8Array.from(histories.flatMap((history) => sequence(...history))),
      stepIndices: histories.map(({ length }) => length),
    };
    return { rows, histories, n };
  }
  const options = { shaping: { repetition: true, exploration: true } };

  it('the shaping terms equal those of a simple implementation', () => {
    forAll(300, (random) => {
      const { rows, histories } = draw(random);
      const { envReward } = rewardStack(rows, options);
      for (const [row, history] of histories.entries()) {
        const action = rows.actions[row];
        const expected = action < 0 ? -3 : rows.stepRewards[row] + plainShaping(history, action);
        expect(envReward[row]).toBeCloseTo(expected, 5);
      }
    });
  });

  it('rewards are in their ranges, and do not depend on other rows', () => {
    forAll(100, (random) => {
      const { rows, n } = draw(random);
      const stack = rewardStack(rows, options);
      expect(stack.formatValid.every((reward) => reward === 1 || reward === -2)).toBe(true);
      expect(stack.actionLegal.every((reward) => reward === 0.5 || reward === -1)).toBe(true);
      expect(stack.beliefAccuracy.every((reward) => Math.abs(reward) <= 0.5)).toBe(true);
      expect(stack.beliefSkill.every((reward) => Math.abs(reward) <= 1)).toBe(true);
      const row = random.integer(0, n - 1);
      const own = <T extends { slice(from: number, to: number): T }>(list: T, width = 1) =>
        list.slice(row * width, (row + 1) * width);
      const alone = rewardStack(
        {
          actions: own(rows.actions as number[]),
          given: own(rows.given as Uint8Array),
          stepRewards: own(rows.stepRewards as Float32Array),
          beliefMae: own(rows.beliefMae as Float32Array),
          beliefSkill: own(rows.beliefSkill as Float32Array),
          histories: own(rows.histories as Uint8Array, 28),
          stepIndices: own(rows.stepIndices as number[]),
        },
        options,
      );
      for (const name of [...REWARD_NAMES, 'total'] as const) {
        expect(alone[name]).toEqual(own(stack[name]));
      }
    });
  });
});
