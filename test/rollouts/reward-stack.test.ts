/** Tests of `rewardStack`: rewards worked by hand, a simple implementation on random rows, and refused arguments. */
import { describe, expect, it } from 'vitest';
import {
  type ErrorCode,
  REWARD_NAMES,
  type RewardName,
  type RewardRows,
  type RewardStackOptions,
  rewardStack,
} from '../../src/index.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { forAll, type Random } from '../support/random.js';
import { expectRefusal } from '../support/refusals.js';

const f32 = (...values: number[]): Float32Array => Float32Array.from(values);
const nan = Number.NaN;

/** Returns a row of 28 actions: the passed actions, then invalid codes, which must be ignored. */
const sequence = (...actions: number[]): number[] => [
  ...actions,
  ...Array(NUM_STEPS - actions.length).fill(255),
];

describe('rewards worked by hand', () => {
  // Parsed: action and belief, only the action, only the belief, neither. The values 9 must not count.
  const rows = {
    actions: [3, 0, -1, -1],
    given: [true, false, true, false],
    stepRewards: [1.25, -0.75, 9, 9],
    beliefMae: [0.125, nan, 0.75, nan],
    beliefSkill: [0.625, 9, -0.25, nan],
  };

  it('of each kind, and their sum, also the weighted one', () => {
    const stack = {
      formatValid: f32(1, -2, -2, -2),
      actionLegal: f32(0.5, 0.5, -1, -1),
      envReward: f32(1.25, -0.75, -3, -3),
      beliefAccuracy: f32(0.375, -0.5, -0.25, -0.5),
      beliefSkill: f32(0.625, -1, -0.25, -1),
    };
    expect(rewardStack(rows)).toEqual({ ...stack, total: f32(3.75, -3.75, -6.5, -7.5) });
    const total = f32(0.5 + 2.5 + 1, 0.5 - 1.5 - 1.5, -1 - 6 - 0.5, -1 - 6 - 1.5);
    const weights = { formatValid: 0, envReward: 2 };
    expect(rewardStack(rows, { weights })).toEqual({ ...stack, total });
    expect(Object.keys(rewardStack(rows))).toEqual([...REWARD_NAMES, 'total']);
  });

  it('without the array beliefSkill are NaN of that kind, and the others are the same', () => {
    const { beliefSkill: _, ...without } = rows;
    const { beliefSkill, total, ...others } = rewardStack(without);
    expect(beliefSkill).toEqual(f32(nan, nan, nan, nan));
    expect(total).toEqual(f32(3.125, -2.75, -6.25, -6.5));
    expect(rewardStack(rows)).toMatchObject(others);
  });

  it('that are missing are NaN and left out of the total', () => {
    const found = rewardStack({
      ...rows,
      stepRewards: [nan, 1, nan, Infinity],
      beliefMae: [nan, nan, 0.5, 9],
    });
    expect(found.envReward).toEqual(f32(nan, 1, -3, -3));
    expect(found.beliefAccuracy).toEqual(f32(nan, -0.5, 0, -0.5));
    expect(found.total).toEqual(f32(1.5 + 0.625, -2 + 0.5 + 1 - 0.5 - 1, -2 - 1 - 3 - 0.25, -7.5));
  });

  it('of no rows are empty arrays', () => {
    const none = rewardStack({ actions: [], given: [], stepRewards: [], beliefMae: [] });
    for (const name of [...REWARD_NAMES, 'total'] as const) expect(none[name]).toEqual(f32());
  });
});

/** Returns the env_reward of an action after a history. @param reward the reward of the step. */
function shapedReward(shaping: RewardStackOptions['shaping'], history: number[], action: number, reward = 0) {
  const histories = Uint8Array.from(sequence(...history));
  const rows = { actions: [action], given: [1], stepRewards: [reward], beliefMae: [0] };
  return rewardStack({ ...rows, histories, stepIndices: [history.length] }, { shaping }).envReward[0];
}

describe('shaping', () => {
  const both = { repetition: true, exploration: true };

  it.each<[string, number[], number, penalty: boolean]>([
    ['not for five actions in all', [3, 3, 3, 3], 3, false],
    ['for two different actions, one of them new', [3, 3, 3, 3, 3], 5, true],
    ['not with a third action as the sixth last', [0, 3, 5, 3, 5], 3, false],
    ['with a third action as the seventh last', [0, 3, 5, 3, 5, 3], 5, true],
    ['for the first and the last action code', [0, 9, 0, 9, 0], 9, true],
  ])(
    'repetition adds -0.4 for at most two different actions among the last six: %s',
    (_, before, action, yes) => {
      expect(shapedReward({ repetition: true }, before, action)).toBe(yes ? Math.fround(-0.4) : 0);
    },
  );

  it.each<[string, number[], number, bonus: boolean]>([
    ['for the first action of the episode', [], 4, true],
    ['not for an action taken long before', [4, 1, 1, 1, 1, 1, 1, 1, 1], 4, false],
    ['for a sixth action', [0, 1, 2, 3, 4], 5, true],
    ['not for a seventh action', [0, 1, 2, 3, 4, 5], 6, false],
    ['for a new action in the last step', Array(27).fill(7), 8, true],
  ])(
    'exploration adds 0.2 for a new action after fewer than six different ones: %s',
    (_, before, action, yes) => {
      expect(shapedReward({ exploration: true }, before, action)).toBe(yes ? Math.fround(0.2) : 0);
    },
  );

  it('is off by default, and adds repetition first; each sum rounds to float32', () => {
    for (const none of [undefined, {}, { repetition: false }])
      expect(shapedReward(none, Array(5).fill(3), 5)).toBe(0);
    const { fround } = Math;
    const exact = fround(fround(fround(1.7) + fround(-0.4)) + fround(0.2));
    expect(shapedReward(both, Array(5).fill(3), 5, 1.7)).toBe(exact);
  });
});

/** A simple implementation of the shaping terms of docs/world.md, "The GRPO reward stack". */
function plainShaping(history: readonly number[], action: number): number {
  const all = [...history, action];
  const repeats = all.length >= 6 && new Set(all.slice(-6)).size <= 2;
  const explores = !history.includes(action) && new Set(history).size < 6;
  return (repeats ? -0.4 : 0) + (explores ? 0.2 : 0);
}

it('rewards of random rows equal those of a simple implementation', () => {
  const draw = (random: Random, row: number, maxCode: number) => ({
    action: random.integer(-1, maxCode),
    given: random.chance(0.7),
    stepReward: row === 0 ? nan : random.real(-5, 5),
    mae: random.real(),
    skill: random.real(-1, 1),
    history: Array.from({ length: random.integer(0, 27) }, () => random.integer(0, maxCode)),
  });
  forAll(300, (random) => {
    const maxCode = random.integer(0, 9);
    const drawn = Array.from({ length: random.integer(1, 20) }, (_, row) => draw(random, row, maxCode));
    const rows: RewardRows = {
      actions: drawn.map(({ action }) => action),
      given: drawn.map(({ given }) => Number(given)),
      stepRewards: drawn.map(({ stepReward }) => stepReward),
      beliefMae: f32(...drawn.map(({ mae }) => mae)),
      beliefSkill: f32(...drawn.map(({ skill }) => skill)),
      histories: Uint8Array.from(drawn.flatMap(({ history }) => sequence(...history))),
      stepIndices: drawn.map(({ history }) => history.length),
    };
    const weights = Object.fromEntries(REWARD_NAMES.map((name) => [name, random.real(-2, 2)]));
    const shaping = { repetition: true, exploration: true };
    const stack = rewardStack(rows, { weights, shaping });
    for (const [row, { action, given, stepReward, mae, skill, history }] of drawn.entries()) {
      const expected: Record<RewardName, number> = {
        formatValid: action >= 0 && given ? 1 : -2,
        actionLegal: action >= 0 ? 0.5 : -1,
        envReward: action >= 0 ? stepReward + plainShaping(history, action) : -3,
        beliefAccuracy: given ? 0.5 - mae : -0.5,
        beliefSkill: given ? skill : -1,
      };
      let total = 0;
      for (const name of REWARD_NAMES) {
        if (Number.isNaN(expected[name])) expect(stack[name][row]).toBeNaN();
        else expect(stack[name][row]).toBeCloseTo(expected[name], 5);
        if (!Number.isNaN(expected[name])) total += weights[name] * expected[name];
      }
      expect(stack.total[row]).toBeCloseTo(total, 4);
    }
  });
});

describe('rewardStack refuses, with the code and the place,', () => {
  const rows = {
    actions: [3, -1],
    given: [1, 0],
    stepRewards: [1, 0],
    beliefMae: [0.5, 0],
    histories: Uint8Array.from([...sequence(1, 2), ...sequence()]),
    stepIndices: [2, 0],
  };
  const shaping = { repetition: true };
  const illegal = Uint8Array.from([...sequence(1, 10), ...sequence(1, 10)]);

  it.each<[ErrorCode, mention: string, change: object, options?: object]>([
    ['illegal_action', 'Pass a code from 0 to 9, or -1.', { actions: [3, 10] }],
    ['illegal_action', 'actions[0]', { actions: [-2, 3] }],
    ['illegal_action', 'actions[0]', { actions: ['sleep', 3] }],
    ['wrong_type', 'given[1]', { given: [1, 'no'] }],
    ['out_of_range', 'stepRewards[0]', { stepRewards: [Infinity, 0] }],
    ['wrong_type', 'stepRewards[0]', { stepRewards: [null, 0] }],
    ['out_of_range', 'beliefMae[0]', { beliefMae: [1.5, 0] }],
    ['out_of_range', 'beliefMae[0]', { beliefMae: [-0.1, 0] }],
    ['out_of_range', 'beliefSkill[0]', { beliefSkill: [-1.5, 0] }],
    ['wrong_type', 'beliefSkill[0]', { beliefSkill: ['1', 0] }],
    ['wrong_type', 'actions', { actions: 3 }],
    ['wrong_type', 'given', { given: undefined }],
    ['wrong_length', 'stepRewards', { stepRewards: [1] }],
    ['wrong_length', 'beliefMae', { beliefMae: [1, 1, 1] }],
    ['wrong_length', 'beliefSkill', { beliefSkill: [1] }],
    ['wrong_type', 'beliefSkill', { beliefSkill: null }],
    ['wrong_type', 'histories', { histories: undefined }, { shaping }],
    ['wrong_type', 'histories', { histories: [[1, 2], []] }, { shaping }],
    ['wrong_length', 'histories', { histories: new Uint8Array(28) }, { shaping }],
    ['wrong_type', 'stepIndices', { stepIndices: undefined }, { shaping }],
    ['wrong_length', 'stepIndices', { stepIndices: [2, 0, 0] }, { shaping }],
    ['out_of_range', 'stepIndices[0]', { stepIndices: [28, 0] }, { shaping }],
    ['illegal_action', 'histories[1] (row 0)', { histories: illegal }, { shaping }],
    [
      'illegal_action',
      'histories[29] (row 1)',
      { actions: [3, 4], histories: illegal, stepIndices: [0, 2] },
      { shaping },
    ],
    ['unknown_option', 'weights', {}, { weight: {} }],
    ['unknown_option', 'envReward', {}, { weights: { env_reward: 1 } }],
    ['out_of_range', 'weights.envReward', {}, { weights: { envReward: nan } }],
    ['wrong_type', 'weights.envReward', {}, { weights: { envReward: null } }],
    ['unknown_option', 'repetition', {}, { shaping: { repeat: true } }],
    ['wrong_type', 'shaping.exploration', {}, { shaping: { exploration: 1 } }],
    ['wrong_type', 'shaping', {}, { shaping: true }],
  ])('%s, %s', (code, mention, change, options) => {
    expectRefusal(() => rewardStack({ ...rows, ...change }, options), code, mention);
  });

  it('rows that are no object; it reads no histories without shaping', () => {
    for (const value of [null, undefined, 3, [rows]])
      expectRefusal(() => rewardStack(value as never), 'wrong_type', 'rows');
    expect(() => rewardStack({ ...rows, histories: undefined, stepIndices: undefined })).not.toThrow();
  });
});
