/** Tests of invalid rows in `scoreReplay`: errors name them, and other rows are scored. */
import { describe, expect, it } from 'vitest';
import type { ReplayRow } from '../../../src/rollouts/replay/row-objects.js';
import type { InputError } from '../../../src/shared/errors.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
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
  const faults: [string, unknown, string, RegExp][] = [
    ['a row that is not an object', 7, 'wrong_type', /rows\[1\] to be an object, got 7/],
    [
      'the name of a column as a key',
      { ...good, beliefHistories: [null, null] },
      'unknown_option',
      /rows\[1\] .*, got "beliefHistories"\. Did you mean "beliefHistory"\?/,
    ],
    [
      'an unknown key',
      { ...good, prompt: '' },
      'unknown_option',
      /rows\[1\] .*, got "prompt"\. Leave it out/,
    ],
    ['a negative seed', { ...good, seed: -1 }, 'bad_seed', /rows\[1\]\.seed, got -1/],
    [
      'an unknown profile',
      { ...good, profileMode: 'nobody' },
      'unknown_name',
      /rows\[1\]\.profileMode .*"nobody"/,
    ],
    ['a bigint seed', { ...good, seed: 5n }, 'bad_seed', /rows\[1\]\.seed, got 5/],
    ['a seed that is a symbol', { ...good, seed: Symbol('s') }, 'bad_seed', /rows\[1\]\.seed, got Symbol/],
    [
      'a history that is not an array',
      { ...good, actionHistory: 'sleep' },
      'wrong_type',
      /rows\[1\]\.actionHistory/,
    ],
    [
      'a history that is too long',
      { ...good, actionHistory: new Array(28).fill(0) },
      'wrong_length',
      /at most 27 .* got 28/,
    ],
    [
      'an unknown action in the history',
      { ...good, actionHistory: [1, 'nap'] },
      'illegal_action',
      /or its name at rows\[1\]\.actionHistory\[1\], got "nap"\. Use one/,
    ],
    [
      'an invalid action',
      { ...good, action: 10 },
      'illegal_action',
      /or null for none, at rows\[1\]\.action, got 10\. Pass a code from 0 to 9, or a name\./,
    ],
    ['a misspelled action', { ...good, action: 'slep' }, 'illegal_action', /Did you mean "sleep"\?/],
    ['a belief with a NaN', { ...good, belief: [0.5, Number.NaN, 0] }, 'bad_belief', /belief\[1\], got NaN/],
    ['a belief with a string', { ...good, belief: [0, '0.5', 0] }, 'bad_belief', /belief\[1\], got "0\.5"/],
    [
      'a belief outside of float32',
      { ...good, belief: [0, 0, 1e39] },
      'bad_belief',
      /rows\[1\]\.belief\[2\], got 1e\+39/,
    ],
    ['a belief of one number', { ...good, belief: [0.5] }, 'wrong_type', /rows\[1\]\.belief/],
    ...(
      [
        ['that is not an array', 'none', 'wrong_type', /rows\[1\]\.beliefHistory to be an array, got "none"/],
        [
          'that is too short',
          [null],
          'wrong_length',
          /Expected 2 beliefs in rows\[1\]\.beliefHistory .* or 28, got 1/,
        ],
        [
          'that is longer than the actions',
          Array(3).fill(null),
          'wrong_length',
          /Expected 2 beliefs .* or 28, got 3/,
        ],
        ['without an entry', [null, undefined], 'wrong_type', /rows\[1\]\.beliefHistory\[1\]/],
        [
          'with an entry of two numbers',
          [null, [0, 1]],
          'wrong_type',
          /rows\[1\]\.beliefHistory\[1\] to be 3 numbers/,
        ],
        [
          'with a NaN',
          [[0, Number.NaN, 1], null],
          'bad_belief',
          /rows\[1\]\.beliefHistory\[0\]\[1\], got NaN/,
        ],
        ['with an infinity', [null, [0, 1, 1e39]], 'bad_belief', /beliefHistory\[1\]\[2\], got 1e\+39/],
      ] as [string, unknown, string, RegExp][]
    ).map(([name, beliefHistory, code, message]): [string, unknown, string, RegExp] => [
      `a belief history ${name}`,
      { ...good, beliefHistory },
      code,
      message,
    ]),
  ];

  it.each(faults)('%s is reported by index and does not affect other rows', (_, bad, code, message) => {
    const scores = score([good, bad as ReplayRow, good]);
    expect(scores.faults).toEqual([{ index: 1, code, message: expect.stringMatching(message) }]);
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
    expect(thrown.message).toMatch(message);
    expect(thrown).toMatchObject({ row: 1 });
    // The field is part of the name of the place; errors about the whole row name the key, or no field.
    const named = /rows\[1\]\.(\w+)/.exec(thrown.message)?.[1];
    if (named !== undefined) expect(thrown).toMatchObject({ field: named });
  });

  it.each<[name: string, invalidate: (columns: Columns) => void, message: RegExp]>([
    ['a step index of 28', ({ stepIndices }) => stepIndices.fill(28, 1, 2), /at stepIndices\[1\], got 28/],
    ['an action below -1', ({ actions }) => actions.fill(-2, 1, 2), /at actions\[1\], got -2/],
    ['an action of 10', ({ actions }) => actions.fill(10, 1, 2), /at actions\[1\], got 10/],
    ['an infinite belief', ({ beliefs }) => beliefs!.fill(Infinity, 3, 4), /beliefs row 1, got \[Infinity,/],
    [
      'a belief with only the first number',
      ({ beliefs }) => beliefs!.fill(Number.NaN, 4, 6),
      /beliefs row 1, got \[0\.1\d*, NaN, NaN\]/,
    ],
    [
      'a belief with only the last number',
      ({ beliefs }) => beliefs!.fill(Number.NaN, 3, 5),
      /got \[NaN, NaN, 0\.3\d*\]/,
    ],
    [
      'a belief of a history with some NaN',
      // Index (28 + 1) * 3 + 1: the second number of row 1, step 1.
      ({ beliefHistories }) => beliefHistories!.fill(0.5, 88, 89),
      /at beliefHistories\[87\] \(row 1, step 1\), got \[NaN, 0\.5, NaN\]/,
    ],
    [
      'an infinite belief of a history',
      ({ beliefHistories }) => beliefHistories!.fill(Infinity, 84, 87),
      /at beliefHistories\[84\] \(row 1, step 0\), got \[Infinity,/,
    ],
  ])('%s in columns is the only fault', (_, invalidate, message) => {
    const columns = toColumns([good, good, good]);
    invalidate(columns);
    const { faults: found, stepRewards } = score(columns);
    expect(found).toEqual([{ index: 1, code: expect.any(String), message: expect.stringMatching(message) }]);
    const thrown = refusalOf(() => score(columns, { onFault: 'throw' })) as InputError;
    expect(thrown.row).toBe(1);
    expect(columns).toHaveProperty(thrown.field!);
    expect(thrown.message).toContain(thrown.field);
    const [alone] = score([good]).stepRewards;
    expect(Array.from(stepRewards)).toEqual([alone, Number.NaN, alone]);
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

  it('in columns is reported by index', () => {
    const columns = toColumns(new Array<ReplayRow>(8).fill(good));
    columns.stepIndices[0] = 28;
    columns.histories[NUM_STEPS] = 10;
    columns.actions[2] = -2;
    columns.actions[3] = 10;
    columns.beliefs![4 * 3] = Number.POSITIVE_INFINITY;
    columns.beliefHistories![(6 * NUM_STEPS + 1) * 3] = 0.5;
    const profiles: unknown[] = new Array(8).fill('sampled');
    profiles[5] = undefined;
    const { faults: found, stepRewards } = score({ ...columns, profiles: profiles as string[] });
    const wanted = [
      ['out_of_range', /from 0 to 27 at stepIndices\[0\], got 28\. Pass/],
      ['illegal_action', /at histories\[28\] \(row 1\), got 10\. Pass/],
      [
        'illegal_action',
        /or -1 for none, at actions\[2\], got -2\. Pass a code from 0 to 9, or -1 for no action\./,
      ],
      ['illegal_action', /at actions\[3\], got 10\. Pass/],
      ['bad_belief', /in beliefs row 4, got \[Infinity, /],
      ['wrong_type', /profiles\[5\] to be a name, got undefined\. Pass/],
      ['bad_belief', /at beliefHistories\[507\] \(row 6, step 1\), got \[0\.5, NaN, NaN\]\. Pass/],
    ] as const;
    expect(found).toEqual(
      wanted.map(([code, message], index) => ({ index, code, message: expect.stringMatching(message) })),
    );
    expect(stepRewards[7]).toBe(score([good]).stepRewards[0]);
  });

  it('that affects all rows is thrown', () => {
    const columns = toColumns([good]);
    expect(() => score({ ...columns, seeds: [1] as never })).toThrow(
      /seeds to be a Uint32Array, got an array of 1/,
    );
    expect(() => score(null as never)).toThrow(/rows to be an object, got null/);
    expect(() => score({ ...columns, actions: new Int8Array(2) })).toThrow(
      /Expected 1 entries in actions .* got 2/,
    );
    expectRefusal(
      () => score({ ...columns, actions: undefined as never }),
      'wrong_type',
      'actions',
      'undefined',
    );
    for (const value of [null, undefined]) {
      expectRefusal(() => score(value as never), 'wrong_type', 'rows to be an object');
    }
    expectRefusal(() => score([good], { grader: null as never }), 'wrong_type', 'grader', 'null');
    expectRefusal(() => score({ ...columns, belief: columns.beliefs } as never), 'unknown_option', 'beliefs');
    // Options are validated first, then rows in order.
    expectRefusal(
      () => score(null as never, { weights: { envReward: Number.NaN } }),
      'out_of_range',
      'weights',
    );
    const twoFaults = toColumns([good, good]);
    twoFaults.histories[0] = 10;
    twoFaults.actions[1] = 10;
    expectRefusal(() => score(twoFaults, { onFault: 'throw' }), 'illegal_action', 'histories[0]');
    // The length is validated before memory is allocated.
    expectRefusal(() => score(new Array(2 ** 32 - 1)), 'out_of_range', 'the number of rows');
    expect(() => score({ ...columns, beliefHistories: new Float32Array(27 * 3) })).toThrow(
      /Expected 84 entries in beliefHistories .* got 81/,
    );
    expectRefusal(
      () => score({ ...columns, beliefHistories: [Number.NaN] as never }),
      'wrong_type',
      'beliefHistories',
    );
    expect(() => score([good], { grader: 'v4' })).toThrow(/v4/);
    expect(() => score([good], { threads: 0 })).toThrow(/threads/);
    expect(() => score([good], { onFault: 'ignore' as never })).toThrow(/onFault/);
  });
});
