/** Tests of the errors of `rewardStack`. */
import { describe, expect, it } from 'vitest';
import { type RewardRows, rewardStack } from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';
import { sequence } from '../../support/rewards.js';

describe('rewardStack refuses', () => {
  const rows = {
    actions: [3, -1],
    given: [1, 0],
    stepRewards: [1, 0],
    beliefMae: [0.5, 0],
    histories: Uint8Array.from([...sequence(1, 2), ...sequence()]),
    stepIndices: [2, 0],
  };
  const refused =
    (change: object, options: object = {}) =>
    () =>
      rewardStack({ ...rows, ...change }, options);
  const shaping = { repetition: true };

  it('invalid entries, and names their index', () => {
    expectRefusal(
      refused({ actions: [3, 10] }),
      'illegal_action',
      'actions[1]',
      '10',
      'Pass a code from 0 to 9, or -1.',
    );
    expectRefusal(refused({ actions: [-2, 3] }), 'illegal_action', 'actions[0]', '-2');
    expectRefusal(refused({ actions: ['sleep', 3] }), 'illegal_action', 'actions[0]', '"sleep"');
    expectRefusal(refused({ given: [1, 'no'] }), 'wrong_type', 'given[1]', '"no"');
    expectRefusal(refused({ stepRewards: [Number.POSITIVE_INFINITY, 0] }), 'out_of_range', 'stepRewards[0]');
    expectRefusal(refused({ stepRewards: [null, 0] }), 'wrong_type', 'stepRewards[0]', 'null');
    expectRefusal(refused({ beliefMae: [1.5, 0] }), 'out_of_range', 'beliefMae[0]', '1.5');
    expectRefusal(refused({ beliefMae: [-0.1, 0] }), 'out_of_range', 'beliefMae[0]');
    expectRefusal(refused({ beliefSkill: [-1.5, 0] }), 'out_of_range', 'beliefSkill[0]', '-1 to 1', '-1.5');
    expectRefusal(refused({ beliefSkill: ['1', 0] }), 'wrong_type', 'beliefSkill[0]', '"1"');
  });

  it('arrays of a wrong type or length', () => {
    for (const value of [null, undefined, 3, [rows]]) {
      expectRefusal(() => rewardStack(value as unknown as RewardRows), 'wrong_type', 'rows', 'actions');
    }
    expectRefusal(refused({ actions: 3 }), 'wrong_type', 'actions', '3');
    expectRefusal(refused({ given: undefined }), 'wrong_type', 'given', 'undefined');
    expectRefusal(refused({ stepRewards: [1] }), 'wrong_length', 'stepRewards', '1');
    expectRefusal(refused({ beliefMae: [1, 1, 1] }), 'wrong_length', 'beliefMae', '3');
    expectRefusal(refused({ beliefSkill: [1] }), 'wrong_length', 'beliefSkill', '1');
    expectRefusal(refused({ beliefSkill: null }), 'wrong_type', 'beliefSkill', 'null');
  });

  it('invalid histories, if there is shaping', () => {
    expect(refused({ histories: undefined, stepIndices: undefined })).not.toThrow();
    const shaped = (change: object) => refused(change, { shaping });
    expectRefusal(shaped({ histories: undefined }), 'wrong_type', 'histories', 'undefined');
    expectRefusal(shaped({ histories: [[1, 2], []] }), 'wrong_type', 'histories', 'an array of 2');
    expectRefusal(shaped({ histories: new Uint8Array(28) }), 'wrong_length', 'histories', '28');
    expectRefusal(shaped({ stepIndices: undefined }), 'wrong_type', 'stepIndices', 'undefined');
    expectRefusal(shaped({ stepIndices: [2, 0, 0] }), 'wrong_length', 'stepIndices', '3');
    expectRefusal(shaped({ stepIndices: [28, 0] }), 'out_of_range', 'stepIndices[0]', '28');
    const codes = Uint8Array.from([...sequence(1, 10), ...sequence()]);
    expectRefusal(shaped({ histories: codes }), 'illegal_action', 'histories[1]', 'row 0', '10');
    const second = {
      actions: [3, 4],
      histories: Uint8Array.from([...sequence(), ...sequence(1, 10)]),
      stepIndices: [0, 2],
    };
    expectRefusal(shaped(second), 'illegal_action', 'histories[29]', 'row 1', '10');
  });

  it('invalid options', () => {
    expectRefusal(refused({}, { weight: {} }), 'unknown_option', 'weights');
    expectRefusal(refused({}, { weights: { env_reward: 1 } }), 'unknown_option', 'envReward');
    expectRefusal(refused({}, { weights: { envReward: Number.NaN } }), 'out_of_range', 'weights.envReward');
    expectRefusal(refused({}, { weights: { envReward: null } }), 'wrong_type', 'weights.envReward');
    expectRefusal(refused({}, { shaping: { repeat: true } }), 'unknown_option', 'repetition');
    expectRefusal(refused({}, { shaping: { exploration: 1 } }), 'wrong_type', 'shaping.exploration');
    expectRefusal(refused({}, { shaping: true }), 'wrong_type', 'shaping');
  });
});
