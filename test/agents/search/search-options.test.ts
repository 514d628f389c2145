/** Searches refuse invalid arguments, copy valid ones, report progress and can be aborted. */
import { describe, expect, it } from 'vitest';
import {
  type ErrorCode,
  RHYTHM,
  RhythmError,
  searchActionSequence,
  searchActionSequences,
} from '../../../src/index.js';
import { put } from '../../support/bad-calls.js';
import { expectRefusal } from '../../support/refusals.js';

const seeds = [100, 200, 300];
const sequence = new Uint8Array(28);
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of any type
type Any = any;

const problems: [name: string, problems: unknown, code: ErrorCode, ...mentions: string[]][] = [
  ['not an array', { seeds }, 'wrong_type', 'problems', 'an object'],
  ['no problems', [], 'wrong_length', 'at least one problem'],
  ['not an object', [seeds], 'wrong_type', 'problems[0]', 'an array of 3'],
  ['null', [null], 'wrong_type', 'problems[0]', 'null'],
  ['an unknown option', [{ seeds, profiles: 'sampled' }], 'unknown_option', 'problems[0]', '"profile"'],
  ['no seeds', [{}], 'wrong_type', 'problems[0].seeds', 'undefined'],
  ['a number of seeds', [{ seeds: 3 }], 'wrong_type', 'problems[0].seeds', 'got 3'],
  ['an empty list of seeds', [{ seeds: [] }], 'out_of_range', 'seeds of all problems', 'got 0'],
  ['an invalid seed', [{ seeds: [1, -1] }], 'bad_seed', 'problems[0].seeds[1]', 'got -1'],
  [
    'unequal numbers of seeds',
    [{ seeds }, { seeds: [1] }],
    'wrong_length',
    '3 seeds in problems[1]',
    'got 1',
  ],
  ['an unknown profile', [{ seeds, profile: 'nobody' }], 'unknown_name', 'profile', '"nobody"'],
  ['too few floats', [{ seeds }, { seeds, profile: [1, 2] }], 'bad_profile', '16 floats', 'got 2'],
  ['a number as profile', [{ seeds, profile: 5 }], 'wrong_type', 'problems[0].profile', 'got 5'],
];

const options: [name: string, options: unknown, code: ErrorCode, ...mentions: string[]][] = [
  ['null', null, 'wrong_type', 'search options', 'null'],
  ['an unknown option', { graders: 'v1' }, 'unknown_option', 'search options', '"grader"'],
  ['an unknown grader', { grader: 'v4' }, 'unknown_name', 'grader', '"v4"'],
  ['weights that sum to 2', { grader: [1, 1, 0, 0, 0, 0] }, 'bad_grader', 'sum to 1'],
  ['a number as grader', { grader: 7 }, 'wrong_type', 'grader', 'got 7'],
  ['text as bound', { minFirstHalfMean: '0' }, 'wrong_type', 'minFirstHalfMean', '"0"'],
  ['NaN as bound', { minFirstHalfMean: Number.NaN }, 'out_of_range', 'minFirstHalfMean', 'NaN'],
  ['few evaluations', { evaluations: 999 }, 'out_of_range', 'evaluations', '1000', 'got 999'],
  [
    'a part of an action sequence',
    { initialSequences: [1, 2, 3] },
    'wrong_length',
    '28 actions',
    'initialSequences',
    'got 3',
  ],
  [
    'an invalid action',
    { initialSequences: put(sequence, 3, 10) },
    'illegal_action',
    'initialSequences[3]',
    'got 10',
  ],
  ['text as action sequences', { initialSequences: 'sleep' }, 'wrong_type', 'initialSequences', '"sleep"'],
  ['an invalid seed', { seed: 2 ** 32 }, 'out_of_range', 'seed', 'got 4294967296'],
  ['a number as imagination', { imagination: 1 }, 'wrong_type', 'imagination', 'got 1'],
  ['an invalid world', { world: { ...RHYTHM, decay: 1 } }, 'bad_world', 'decay'],
  ['an unknown backend', { backend: 'gpu' }, 'unknown_name', 'backend', '"gpu"'],
  ['an unknown kernel', { backend: 'reference', kernel: 'avx2' }, 'unknown_name', 'kernel'],
  ['no threads', { threads: 0 }, 'out_of_range', 'threads', 'got 0'],
  ['a number as onProgress', { onProgress: 1 }, 'wrong_type', 'onProgress', 'got 1'],
  ['an invalid signal', { signal: {} }, 'wrong_type', 'signal', 'an object'],
];

/** Expects a promise to reject with an error of this code that mentions these texts. */
async function expectRejection(
  promise: Promise<unknown>,
  code: ErrorCode,
  mentions: string[],
): Promise<void> {
  const reason = await promise.catch((error: unknown) => error);
  expectRefusal(
    () => {
      if (reason instanceof RhythmError) throw reason;
    },
    code,
    ...mentions,
  );
}

it.each(problems)('searchActionSequences refuses problems: %s', async (_, value, code, ...mentions) => {
  await expectRejection(searchActionSequences(value as Any), code, mentions);
});

it.each(options)('searchActionSequence refuses options: %s', async (_, value, code, ...mentions) => {
  await expectRejection(searchActionSequence({ seeds }, value as Any), code, mentions);
});

describe('a search', () => {
  it('reports progress up to the total', async () => {
    const calls: [number, number][] = [];
    const onProgress = (done: number, total: number) => calls.push([done, total]);
    const [{ evaluations }] = await searchActionSequences([{ seeds }, { seeds }], {
      evaluations: 1000,
      onProgress,
    });
    const done = calls.map(([count]) => count);
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b));
    expect(done.length).toBeGreaterThan(10);
    expect(new Set(calls.map(([, total]) => total))).toEqual(new Set([2 * evaluations]));
    expect(done.at(-1)).toBe(2 * evaluations);
  });

  it('rejects with the reason of its signal', async () => {
    const reason = new Error('enough');
    const before = AbortSignal.abort(reason);
    await expect(searchActionSequence({ seeds }, { signal: before })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = (done: number) => done > 100 && abort.abort(reason);
    await expect(searchActionSequence({ seeds }, { signal: abort.signal, onProgress })).rejects.toBe(reason);
    const timer = new AbortController();
    setTimeout(() => timer.abort(reason), 0);
    await expect(searchActionSequence({ seeds }, { signal: timer.signal })).rejects.toBe(reason);
  });

  it('rejects with the error that onProgress throws', async () => {
    const reason = new Error('no');
    const onProgress = () => {
      throw reason;
    };
    await expect(searchActionSequence({ seeds }, { onProgress })).rejects.toBe(reason);
  });

  it('ignores later changes of its arguments', async () => {
    const problem = { seeds: Uint32Array.from(seeds), profile: new Float32Array(16).fill(0.5) };
    const initialSequences = sequence.slice();
    const result = searchActionSequence(problem, { evaluations: 1000, initialSequences });
    problem.seeds.fill(0);
    problem.profile.fill(9);
    initialSequences.fill(9);
    const profile = new Float32Array(16).fill(0.5);
    expect(await result).toEqual(
      await searchActionSequence({ seeds, profile }, { evaluations: 1000, initialSequences: sequence }),
    );
  });
});
