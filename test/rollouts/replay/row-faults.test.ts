/** Tests of invalid rows in `scoreReplay`: errors name them, and other rows are scored. */
import { describe, expect, it } from 'vitest';
import type { ReplayRow } from '../../../src/rollouts/replay/row-objects.js';
import type { ErrorCode, InputError } from '../../../src/shared/errors.js';
import { Random } from '../../support/random.js';
import { expectRefusal, refusalOf } from '../../support/refusals.js';
import { anyRows, score, toColumns } from '../../support/replays.js';

type Columns = ReturnType<typeof toColumns>;

/** Copies a view to shared memory. */
function shared<T extends Uint8Array | Int8Array | Uint32Array | Float32Array>(view: T): T {
  const Kind = view.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new Kind(new SharedArrayBuffer(view.byteLength));
  copy.set(view);
  return copy;
}

describe('columns', () => {
  const rows = anyRows(new Random('memory'), 40);
  const columns = () => {
    const { profiles, ...arrays } = toColumns(rows);
    return { ...arrays, profiles: Array.from(profiles as readonly string[]) };
  };
  const names = ['seeds', 'stepIndices', 'histories', 'actions', 'beliefs', 'beliefHistories'] as const;
  type View = ReturnType<typeof columns>[(typeof names)[number]] & object;

  it('may be in shared memory', () => {
    const changed = columns();
    // One invalid row, so that `passesQuickCheck` (check-rows.ts) fails and rows are checked one by one.
    const actions = Int8Array.from(changed.actions).fill(10, 3, 4);
    const expected = score({ ...changed, actions });
    const inSharedMemory = { ...changed, actions };
    for (const name of names) Object.assign(inSharedMemory, { [name]: shared(inSharedMemory[name] as View) });
    expect(score(inSharedMemory)).toEqual(expected);
  });

  it('are refused if detached', () => {
    const detached = columns();
    structuredClone(detached.histories, { transfer: [detached.histories.buffer as ArrayBuffer] });
    expectRefusal(() => score(detached), 'wrong_length', 'histories', 'got 0');
  });
});

describe('a fault', () => {
  const good: ReplayRow = { seed: 5, actionHistory: [1, 2], action: 3, belief: [0.1, 0.2, 0.3] };
  const completed = { seed: 5, actionHistory: [1, 2], completion: 'SLEEP' };
  const unparsed = { actions: undefined, beliefs: undefined };
  const { NaN: nan } = Number;

  it.each<[code: ErrorCode, place: string, bad: unknown, cause?: RegExp]>([
    ['wrong_type', 'rows[1]', 7],
    ['wrong_type', 'rows[1]', null],
    [
      'unknown_option',
      'rows[1]',
      { ...good, beliefHistories: [null, null] },
      /Did you mean "beliefHistory"\?/,
    ],
    ['unknown_option', 'rows[1]', { ...good, prompt: '' }, /got "prompt"\. Leave it out/],
    ['bad_seed', 'rows[1].seed', { ...good, seed: -1 }],
    ['bad_seed', 'rows[1].seed', { ...good, seed: 5n }],
    ['bad_seed', 'rows[1].seed', { ...good, seed: Symbol('s') }],
    ['unknown_name', 'rows[1].profileMode', { ...good, profileMode: 'nobody' }],
    ['wrong_type', 'rows[1].actionHistory', { ...good, actionHistory: 'sleep' }],
    [
      'wrong_length',
      'rows[1].actionHistory',
      { ...good, actionHistory: Array(28).fill(0) },
      /at most 27 .* got 28/,
    ],
    ['illegal_action', 'rows[1].actionHistory[1]', { ...good, actionHistory: [1, 'nap'] }],
    [
      'illegal_action',
      'rows[1].action',
      { ...good, action: 10 },
      /or null for none.* Pass a code from 0 to 9, or/,
    ],
    ['illegal_action', 'rows[1].action', { ...good, action: 'slep' }, /Did you mean "sleep"\?/],
    ['bad_belief', 'rows[1].belief[1]', { ...good, belief: [0.5, nan, 0] }],
    ['bad_belief', 'rows[1].belief[1]', { ...good, belief: [0, '0.5', 0] }],
    ['bad_belief', 'rows[1].belief[2]', { ...good, belief: [0, 0, 1e39] }],
    ['wrong_type', 'rows[1].belief', { ...good, belief: [0.5] }],
    ['wrong_type', 'rows[1].beliefHistory', { ...good, beliefHistory: 'none' }],
    [
      'wrong_length',
      'rows[1].beliefHistory',
      { ...good, beliefHistory: [null] },
      /Expected 2 .* or 28, got 1/,
    ],
    ['wrong_length', 'rows[1].beliefHistory', { ...good, beliefHistory: Array(3).fill(null) }],
    ['wrong_type', 'rows[1].beliefHistory[1]', { ...good, beliefHistory: [null, undefined] }],
    ['wrong_type', 'rows[1].beliefHistory[1]', { ...good, beliefHistory: [null, [0, 1]] }],
    ['bad_belief', 'rows[1].beliefHistory[0][1]', { ...good, beliefHistory: [[0, nan, 1], null] }],
    ['bad_belief', 'rows[1].beliefHistory[1][2]', { ...good, beliefHistory: [null, [0, 1, 1e39]] }],
    ['wrong_type', 'rows[1]', { ...completed, completion: 5 }],
    ['wrong_type', 'rows[1]', { ...completed, completion: [{ role: 'assistant', content: 'SLEEP' }] }],
    ['unknown_option', 'rows[1]', { ...completed, action: 0 }],
    ['unknown_option', 'rows[1]', { ...completed, belief: [0, 0, 0] }],
  ])(
    '%s in %s is reported by index and does not affect other rows',
    (code, place, bad, cause = /^Expected /) => {
      const scores = score([good, bad as ReplayRow, good]);
      expect(scores.faults).toEqual([{ index: 1, code, message: expect.stringMatching(cause) }]);
      expect(scores.faults[0].message).toContain(place);
      const alone = score([good]);
      for (const i of [0, 2]) {
        expect(scores.stepRewards[i]).toBe(alone.stepRewards[0]);
        expect(scores.rewards.total[i]).toBe(alone.rewards.total[0]);
        expect(scores.stateHashes[i]).toBe(alone.stateHashes[0]);
      }
      expect(scores.stateHashes[1]).toBe(0n);
      const { stepRewards, beliefMae, beliefSkill, rewards } = scores;
      const numbers = [stepRewards, beliefMae, beliefSkill, ...Object.values(rewards)];
      expect(numbers.map((array) => array[1])).toEqual(numbers.map(() => Number.NaN));
      const thrown = refusalOf(() => score([good, bad as ReplayRow], { onFault: 'throw' }));
      // The field is part of the name of the place; errors about the whole row name the key, or no field.
      const field = /^rows\[1\]\.(\w+)/.exec(place)?.[1];
      expect(thrown).toMatchObject({ code, row: 1, ...(field !== undefined && { field }) });
    },
  );

  it.each<[code: ErrorCode, place: string, values: (columns: Columns) => void]>([
    ['out_of_range', 'stepIndices[1], got 28', ({ stepIndices }) => stepIndices.fill(28, 1, 2)],
    ['illegal_action', 'histories[28] (row 1), got 10', ({ histories }) => histories.fill(10, 28, 29)],
    ['illegal_action', 'actions[1], got -2', ({ actions }) => actions.fill(-2, 1, 2)],
    ['illegal_action', 'actions[1], got 10', ({ actions }) => actions.fill(10, 1, 2)],
    ['bad_belief', 'beliefs row 1, got [Infinity,', ({ beliefs }) => beliefs!.fill(Infinity, 3, 4)],
    // A belief with only the first or only the last number.
    ['bad_belief', ', NaN, NaN]', ({ beliefs }) => beliefs!.fill(nan, 4, 6)],
    ['bad_belief', 'got [NaN, NaN, 0.3', ({ beliefs }) => beliefs!.fill(nan, 3, 5)],
    // Index (28 + 1) * 3 + 1: the second number of row 1, step 1.
    [
      'bad_belief',
      'beliefHistories[87] (row 1, step 1), got [NaN, 0.5, NaN]',
      (all) => all.beliefHistories!.fill(0.5, 88, 89),
    ],
    [
      'bad_belief',
      'beliefHistories[84] (row 1, step 0)',
      (all) => all.beliefHistories!.fill(Infinity, 84, 87),
    ],
    ['wrong_type', 'profiles[1] to be a name', ({ profiles }) => Object.assign(profiles!, { 1: undefined })],
  ])('%s in columns is the only fault: %s', (code, place, invalidate) => {
    const columns = toColumns([good, good, good]);
    invalidate(columns);
    const { faults, stepRewards } = score(columns);
    expect(faults).toEqual([{ index: 1, code, message: expect.stringContaining(place) }]);
    const thrown = refusalOf(() => score(columns, { onFault: 'throw' })) as InputError;
    expect(thrown.row).toBe(1);
    expect(columns).toHaveProperty(thrown.field!);
    expect(thrown.message).toContain(thrown.field);
    const [alone] = score([good]).stepRewards;
    expect(Array.from(stepRewards)).toEqual([alone, nan, alone]);
  });

  it('in a profile of numbers is reported by index, and the array is not changed', () => {
    const { profiles: _, ...columns } = toColumns([good, good]);
    const profiles = new Random('profile').profiles(2);
    // Validation replaces -0 by 0, but in a copy.
    profiles[0] = -0;
    profiles[16] = Number.NaN;
    const { faults: found } = score({ ...columns, profiles });
    expect(found).toEqual([
      { index: 1, code: 'bad_profile', message: expect.stringMatching(/profiles\[1\]\[0\], got NaN/) },
    ]);
    expect(Object.is(profiles[0], -0)).toBe(true);
  });

  it('is not recorded if a getter of a row throws; the error is thrown', () => {
    const failing = {
      ...good,
      get seed(): number {
        throw new TypeError('mine');
      },
    };
    expect(() => score([good, failing])).toThrow(new TypeError('mine'));
  });

  it('that affects all rows is thrown, that of options before that of rows', () => {
    const columns = toColumns([good]);
    const twoFaults = toColumns([good, good]);
    twoFaults.histories[0] = 10;
    twoFaults.actions[1] = 10;
    const refused: [ErrorCode, mention: string, rows: unknown, options?: object][] = [
      ['wrong_type', 'seeds', { ...columns, seeds: [1] }],
      ['wrong_length', '1 entries in actions', { ...columns, actions: new Int8Array(2) }],
      ['wrong_type', 'actions', { ...columns, actions: undefined }],
      ['wrong_type', 'rows to be an object', null],
      ['wrong_type', 'rows to be an object', undefined],
      ['unknown_option', 'beliefs', { ...columns, belief: columns.beliefs }],
      [
        'wrong_length',
        '84 entries in beliefHistories',
        { ...columns, beliefHistories: new Float32Array(81) },
      ],
      ['wrong_type', 'beliefHistories', { ...columns, beliefHistories: [nan] }],
      ['unknown_option', 'both', { ...columns, completions: Array(3).fill('SLEEP') }],
      ['wrong_length', 'completions', { ...columns, ...unparsed, completions: [] }],
      ['wrong_type', 'texts', { ...columns, ...unparsed, completions: 'SLEEP' }],
      ['wrong_type', 'grader', [good], { grader: null }],
      ['unknown_name', 'v4', [good], { grader: 'v4' }],
      ['out_of_range', 'threads', [good], { threads: 0 }],
      ['unknown_name', 'onFault', [good], { onFault: 'ignore' }],
      ['unknown_name', 'thought', [good], { thought: 'opened' }],
      ['out_of_range', 'weights', null, { weights: { envReward: nan } }],
      ['illegal_action', 'histories[0]', twoFaults, { onFault: 'throw' }],
      // The length is validated before memory is allocated.
      ['out_of_range', 'the number of rows', new Array(2 ** 32 - 1)],
    ];
    for (const [code, mention, rows, options] of refused)
      expectRefusal(() => score(rows as never, options), code, mention);
  });
});
