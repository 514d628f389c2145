/** Rows that cannot be replayed are named and spoil no other; columns are what lies in their memory. */
import { describe, expect, it } from 'vitest';
import type { ReplayRow } from '../src/rollout/replay/objects.js';
import { NUM_STEPS } from '../src/world/fields.js';
import { Random } from './support/random.js';
import { expectRefusal } from './support/refusals.js';
import { anyRows, score, toColumns } from './support/replays.js';

function shared<T extends Uint8Array | Int8Array | Uint32Array | Float32Array>(view: T): T {
  const Kind = view.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new Kind(new SharedArrayBuffer(view.byteLength));
  copy.set(view);
  return copy;
}

describe('columns are what lies in their memory', () => {
  const rows = anyRows(new Random('memory'), 40);
  const columns = () => {
    const { profiles, ...arrays } = toColumns(rows);
    return { ...arrays, profiles: Array.from(profiles as readonly string[]) };
  };
  const plain = score(columns());
  const names = ['seeds', 'stepIndices', 'histories', 'actions', 'beliefs'] as const;
  type View = ReturnType<typeof columns>[(typeof names)[number]] & object;

  const changes: [string, (view: View) => View][] = [
    ['of a length of their own', (view) => Object.defineProperty(view, 'length', { value: 1e9 })],
    [
      'with methods and memory of their own',
      (view) =>
        Object.defineProperties(view, {
          slice: { value: () => new Float64Array(1) },
          buffer: { value: new ArrayBuffer(4) },
          byteOffset: { value: 400 },
        }),
    ],
    ['without a prototype', (view) => Object.setPrototypeOf(view, null)],
    ['shared with other threads', shared],
  ];

  it.each(changes)('%s', (_, change) => {
    const changed = columns();
    // One that is faulty, so that columns are copied.
    const actions = Int8Array.from(changed.actions).fill(10, 3, 4);
    const expected = score({ ...changed, actions });
    const made = { ...changed, actions };
    for (const name of names) Object.assign(made, { [name]: change(made[name] as View) });
    expect(score(made)).toEqual(expected);
  });

  it('each read once', () => {
    const asked: string[] = [];
    const read = new Proxy(columns(), {
      get: (from, key) => {
        asked.push(String(key));
        return Reflect.get(from, key);
      },
    });
    expect(score(read)).toEqual(plain);
    expect(asked.sort()).toEqual([...names, 'profiles'].sort());
  });

  it('transferred away they are none', () => {
    const lost = columns();
    structuredClone(lost.histories, { transfer: [lost.histories.buffer as ArrayBuffer] });
    expectRefusal(() => score(lost), 'wrong_length', 'histories', 'got 0');
  });

  it.each(names)('and not used when a list of names transfers its %s away while it is read', (name) => {
    const lost = columns();
    const profiles = new Proxy(lost.profiles, {
      get: (from, key) => {
        const buffer = lost[name]!.buffer as ArrayBuffer;
        if (key === '7') structuredClone(buffer, { transfer: [buffer] });
        return Reflect.get(from, key);
      },
    });
    expectRefusal(() => score({ ...lost, profiles }), 'wrong_length', name, 'got 0');
  });

  it('whatever a list of names does while it is read', () => {
    const changed = columns();
    const profiles = new Proxy(changed.profiles, {
      get: (from, key) => {
        if (key === '7') changed.histories.fill(250);
        return Reflect.get(from, key);
      },
    });
    const { faults } = score({ ...changed, profiles });
    const begun = rows.filter(({ actionHistory }) => actionHistory.length > 0);
    expect(faults.map(({ code }) => code)).toEqual(begun.map(() => 'illegal_action'));
  });
});

describe('a fault', () => {
  const good: ReplayRow = { seed: 5, actionHistory: [1, 2], action: 3, belief: [0.1, 0.2, 0.3] };
  const faults: [string, unknown, string, RegExp][] = [
    ['no object', 7, 'wrong_type', /rows\[1\] to be an object, got 7/],
    ['no seed', { ...good, seed: -1 }, 'bad_seed', /rows\[1\]\.seed, got -1/],
    [
      'a name that is none',
      { ...good, profileMode: 'nobody' },
      'unknown_name',
      /rows\[1\]\.profileMode .*"nobody"/,
    ],
    ['a seed of another kind', { ...good, seed: 5n }, 'bad_seed', /rows\[1\]\.seed, got 5/],
    ['a seed that is a symbol', { ...good, seed: Symbol('s') }, 'bad_seed', /rows\[1\]\.seed, got Symbol/],
    ['a history that is none', { ...good, actionHistory: 'sleep' }, 'wrong_type', /rows\[1\]\.actionHistory/],
    [
      'too long a history',
      { ...good, actionHistory: new Array(28).fill(0) },
      'wrong_length',
      /at most 27 .* got 28/,
    ],
    [
      'an action that is none',
      { ...good, actionHistory: [1, 'nap'] },
      'illegal_action',
      /or its name at rows\[1\]\.actionHistory\[1\], got "nap"\. Use one/,
    ],
    [
      'a proposal that is none',
      { ...good, action: 10 },
      'illegal_action',
      /or null for none, at rows\[1\]\.action, got 10\. Pass one/,
    ],
    ['a misspelled proposal', { ...good, action: 'slep' }, 'illegal_action', /Did you mean "sleep"\?/],
    ['half a belief', { ...good, belief: [0.5, Number.NaN, 0] }, 'bad_belief', /belief\[1\], got NaN/],
    [
      'too large a belief',
      { ...good, belief: [0, 0, 1e39] },
      'bad_belief',
      /rows\[1\]\.belief\[2\], got 1e\+39/,
    ],
    ['a short belief', { ...good, belief: [0.5] }, 'wrong_type', /rows\[1\]\.belief/],
  ];

  it.each(faults)('%s is named by its index, and spoils no other row', (_, bad, code, message) => {
    const scores = score([good, bad as ReplayRow, good]);
    expect(scores.faults).toEqual([{ index: 1, code, message: expect.stringMatching(message) }]);
    const alone = score([good]);
    for (const i of [0, 2]) {
      expect(scores.stepRewards[i]).toBe(alone.stepRewards[0]);
      expect(scores.rewards.total[i]).toBe(alone.rewards.total[0]);
      expect(scores.stateHashes[i]).toBe(alone.stateHashes[0]);
    }
    expect(scores.stateHashes[1]).toBe(0n);
    const numbers = [scores.stepRewards, scores.beliefMae, ...Object.values(scores.rewards)];
    expect(numbers.map((array) => array[1])).toEqual(numbers.map(() => Number.NaN));
    expect(() => score([good, bad as ReplayRow], { onFault: 'throw' })).toThrow(message);
  });

  it('of columns is named by its index too', () => {
    const columns = toColumns(new Array<ReplayRow>(7).fill(good));
    columns.stepIndices[0] = 28;
    columns.histories[NUM_STEPS] = 10;
    columns.actions[2] = -2;
    columns.actions[3] = 10;
    columns.beliefs![4 * 3] = Number.POSITIVE_INFINITY;
    const profiles: unknown[] = new Array(7).fill('sampled');
    profiles[5] = undefined;
    const { faults: found, stepRewards } = score({ ...columns, profiles: profiles as string[] });
    const wanted = [
      ['out_of_range', /from 0 to 27 at stepIndices\[0\], got 28\. Pass/],
      ['illegal_action', /at histories\[28\], which is of row 1, got 10\. Pass/],
      ['illegal_action', /or -1 for none, at actions\[2\], got -2\. Pass/],
      ['illegal_action', /at actions\[3\], got 10\. Pass/],
      ['bad_belief', /in beliefs row 4, got \[Infinity, /],
      ['wrong_type', /profiles\[5\] to be a name, got undefined\. Pass/],
    ] as const;
    expect(found).toEqual(
      wanted.map(([code, message], index) => ({ index, code, message: expect.stringMatching(message) })),
    );
    expect(stepRewards[6]).toBe(score([good]).stepRewards[0]);
  });

  it('of all rows is an error', () => {
    const columns = toColumns([good]);
    expect(() => score({ ...columns, seeds: [1] as never })).toThrow(
      /seeds to be a Uint32Array, got an array of 1/,
    );
    expect(() => score(null as never)).toThrow(/rows to be an object, got null/);
    expect(() => score({ ...columns, actions: new Int8Array(2) })).toThrow(
      /Expected 1 entries in actions .* got 2/,
    );
    for (const none of [null, undefined]) {
      expectRefusal(() => score(none as never), 'wrong_type', 'rows to be an object');
    }
    expectRefusal(() => score([good], { grader: null as never }), 'wrong_type', 'grader', 'null');
    expectRefusal(() => score({ ...columns, belief: columns.beliefs } as never), 'unknown_option', 'beliefs');
    // An option's fault is said first, and a row's whatever comes after it.
    expectRefusal(
      () => score(null as never, { weights: { envReward: Number.NaN } }),
      'out_of_range',
      'weights',
    );
    const late = toColumns([good, good]);
    late.histories[0] = 10;
    late.actions[1] = 10;
    expectRefusal(() => score(late, { onFault: 'throw' }), 'illegal_action', 'histories[0]');
    // Before they are counted out.
    expectRefusal(() => score(new Array(2 ** 32 - 1)), 'out_of_range', 'the number of rows');
    expect(() => score([good], { grader: 'v3' })).toThrow(/v3/);
    expect(() => score([good], { threads: 0 })).toThrow(/threads/);
    expect(() => score([good], { onFault: 'ignore' as never })).toThrow(/onFault/);
  });
});
