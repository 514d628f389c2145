/** The GRPO reward stack: each reward at its boundaries, the shaping terms at theirs, and any rows at all. */
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
const nothing = Number.NaN;

describe('each reward on its own', () => {
  // What parsed: action and belief, action alone, belief alone, nothing.
  const rows: RewardRows = {
    actions: [3, 0, -1, -1],
    given: [true, false, true, false],
    stepRewards: [1.25, -0.75, 9, 9],
    beliefMae: [0.125, 9, 0.75, 9],
  };
  const stack = (change: object = {}) =>
    rewardStack({ ...rows, beliefMae: [0.125, nothing, 0.75, nothing], ...change });

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

  it('env_reward: what the step earns, -3 without an action', () => {
    expect(stack().envReward).toEqual(f32(1.25, -0.75, -3, -3));
  });

  it('belief_accuracy: 0.5 less the error, -0.5 without a belief', () => {
    expect(stack().beliefAccuracy).toEqual(f32(0.375, -0.5, -0.25, -0.5));
    const ends = stack({ given: [1, 1, 1, 1], beliefMae: [0, 0.5, 1, 0.25] });
    expect(ends.beliefAccuracy).toEqual(f32(0.5, 0, -0.5, 0.25));
  });

  it('what does not parse is not read: its reward and error may be anything', () => {
    expect(rewardStack(rows)).toEqual(stack());
    expect(rewardStack({ ...rows, stepRewards: [1.25, -0.75, nothing, Number.POSITIVE_INFINITY] })).toEqual(
      stack(),
    );
  });

  it('total: the sum of the four', () => {
    expect(stack().total).toEqual(
      f32(1 + 0.5 + 1.25 + 0.375, -2 + 0.5 - 0.75 - 0.5, -2 - 1 - 3 - 0.25, -6.5),
    );
  });

  it('total: the weighted sum, each weight 1 unless said', () => {
    const { total } = rewardStack(rows, { weights: { formatValid: 0, envReward: 2 } });
    expect(total).toEqual(f32(0.5 + 2.5 + 0.375, 0.5 - 1.5 - 0.5, -1 - 6 - 0.25, -7.5));
    for (const [k, name] of REWARD_NAMES.entries()) {
      const weights = Object.fromEntries(REWARD_NAMES.map((each, j) => [each, Number(j === k)]));
      const alone = rewardStack(rows, { weights });
      expect(alone.total).toEqual(alone[name]);
    }
  });

  it('weights change no reward', () => {
    const { total: _, ...rewards } = rewardStack(rows, { weights: { envReward: 7 } });
    const { total: __, ...plain } = rewardStack(rows);
    expect(rewards).toEqual(plain);
    expect(Object.keys(rewards)).toEqual(REWARD_NAMES);
  });

  it('a missing reward is missing, and left out of the total', () => {
    const found = stack({ stepRewards: [nothing, 1, 0, 0], beliefMae: [nothing, nothing, 0.5, nothing] });
    expect(found.envReward).toEqual(f32(nothing, 1, -3, -3));
    expect(found.beliefAccuracy).toEqual(f32(nothing, -0.5, 0, -0.5));
    expect(found.total).toEqual(f32(1.5, -2 + 0.5 + 1 - 0.5, -2 - 1 - 3, -6.5));
  });

  it('the four make advantages, as several reward functions do', () => {
    const found = stack();
    const lists = REWARD_NAMES.map((name) => found[name]);
    expect(groupAdvantages(lists, 4)).toEqual(groupAdvantages(found.total, 4));
  });

  it('nobody', () => {
    const none = rewardStack({ actions: [], given: [], stepRewards: [], beliefMae: [] });
    for (const name of [...REWARD_NAMES, 'total'] as const) expect(none[name]).toEqual(f32());
  });
});

/** The env_reward of an action after a history, where the step itself earns `reward`. */
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

describe('shaping: -0.4 for the last six actions being at most two', () => {
  const after = (history: number[], action: number) => shapedReward({ repetition: true }, history, action);
  const penalty = Math.fround(-0.4);

  it.each<[string, number[], number, number]>([
    ['five actions, this one included, are too few', [3, 3, 3, 3], 3, 0],
    ['six are enough', [3, 3, 3, 3, 3], 3, penalty],
    ['two of them are as one', [3, 5, 3, 5, 3], 5, penalty],
    ['the second may be this one', [3, 3, 3, 3, 3], 5, penalty],
    ['three are none too few', [3, 5, 3, 5, 3], 0, 0],
    ['a third among those before saves it', [3, 5, 0, 5, 3], 5, 0],
    ['the sixth last saves it', [0, 3, 5, 3, 5], 3, 0],
    ['the seventh last does not', [0, 3, 5, 3, 5, 3], 5, penalty],
    ['late in the week', [...Array(22).fill(9), 1, 2, 1, 2, 1], 2, penalty],
    ['the first and the last of the ten', [0, 9, 0, 9, 0], 9, penalty],
  ])('%s', (_, history, action, expected) => {
    expect(after(history, action)).toBe(expected);
  });
});

describe('shaping: +0.2 for an action not yet used while fewer than six were', () => {
  const after = (history: number[], action: number) => shapedReward({ exploration: true }, history, action);
  const bonus = Math.fround(0.2);

  it.each<[string, number[], number, number]>([
    ['the first action of the week is new', [], 4, bonus],
    ['one that was used is not', [4], 4, 0],
    ['however long ago', [4, 1, 1, 1, 1, 1, 1, 1, 1], 4, 0],
    ['a sixth is new', [0, 1, 2, 3, 4], 5, bonus],
    ['a seventh is one too many', [0, 1, 2, 3, 4, 5], 6, 0],
    ['what counts is different actions, not steps', [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4], 9, bonus],
    ['the last step of the week', Array(27).fill(7), 8, bonus],
  ])('%s', (_, history, action, expected) => {
    expect(after(history, action)).toBe(expected);
  });
});

describe('shaping', () => {
  const both = { repetition: true, exploration: true };

  it('is off by default, one term and the other', () => {
    expect(shapedReward(undefined, Array(5).fill(3), 5)).toBe(0);
    expect(shapedReward({}, Array(5).fill(3), 5)).toBe(0);
    expect(shapedReward({ repetition: false, exploration: true }, Array(5).fill(3), 3)).toBe(0);
  });

  it('may be both at once: each rounds to float32, repetition first', () => {
    const { fround } = Math;
    const exact = fround(fround(fround(1.7) + fround(-0.4)) + fround(0.2));
    expect(shapedReward(both, Array(5).fill(3), 5, 1.7)).toBe(exact);
  });

  it('adds nothing where no action parsed, nor to any other reward', () => {
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

  it('each row has its own history', () => {
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

/** The rules of docs/world.md, The GRPO reward stack, computed in the plainest way. */
function plainShaping(history: readonly number[], action: number): number {
  const all = [...history, action];
  const repeats = all.length >= 6 && new Set(all.slice(-6)).size <= 2;
  const explores = !history.includes(action) && new Set(history).size < 6;
  return (repeats ? -0.4 : 0) + (explores ? 0.2 : 0);
}

describe('for all rows', () => {
  function draw(random: Random) {
    const n = random.integer(1, 20);
    const few = random.integer(0, 9);
    const histories = Array.from({ length: n }, () =>
      Array.from({ length: random.integer(0, 27) }, () => random.integer(0, few)),
    );
    const rows: RewardRows = {
      actions: Array.from({ length: n }, () => random.integer(-1, few)),
      given: random.mask(n, 0.7),
      stepRewards: Float32Array.from({ length: n }, () => random.real(-5, 5)),
      beliefMae: Float32Array.from({ length: n }, () => random.real()),
      histories: Uint8Array.from(histories.flatMap((history) => sequence(...history))),
      stepIndices: histories.map(({ length }) => length),
    };
    return { rows, histories, n };
  }
  const options = { shaping: { repetition: true, exploration: true } };

  it('the shaping terms are what their sentences say', () => {
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

  it('rewards are in their ranges, and a row knows nothing of the others', () => {
    forAll(100, (random) => {
      const { rows, n } = draw(random);
      const stack = rewardStack(rows, options);
      expect(stack.formatValid.every((reward) => reward === 1 || reward === -2)).toBe(true);
      expect(stack.actionLegal.every((reward) => reward === 0.5 || reward === -1)).toBe(true);
      expect(stack.beliefAccuracy.every((reward) => Math.abs(reward) <= 0.5)).toBe(true);
      const row = random.integer(0, n - 1);
      const own = <T extends { slice(from: number, to: number): T }>(list: T, width = 1) =>
        list.slice(row * width, (row + 1) * width);
      const alone = rewardStack(
        {
          actions: own(rows.actions as number[]),
          given: own(rows.given as Uint8Array),
          stepRewards: own(rows.stepRewards as Float32Array),
          beliefMae: own(rows.beliefMae as Float32Array),
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
