/** Searches refuse invalid arguments, copy valid ones, report progress and can be aborted. */
import { describe, expect, it } from 'vitest';
import { type ErrorCode, RHYTHM, searchActionSequence, searchActionSequences } from '../../../src/index.js';
import { expectRejection } from '../../support/refusals.js';

const seeds = [100, 200, 300];
const sequence = new Uint8Array(28);
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of any type
type Any = any;

it.each<[problems: unknown, code: ErrorCode, ...mentions: string[]]>([
  [{ seeds }, 'wrong_type', 'problems'],
  [[], 'wrong_length', 'at least one problem'],
  [[seeds], 'wrong_type', 'problems[0]'],
  [[null], 'wrong_type', 'problems[0]'],
  [[{ seeds, profiles: 'sampled' }], 'unknown_option', 'problems[0]', '"profile"'],
  [[{}], 'wrong_type', 'problems[0].seeds'],
  [[{ seeds: 3 }], 'wrong_type', 'problems[0].seeds'],
  [[{ seeds: [] }], 'out_of_range', 'seeds of all problems'],
  [[{ seeds: [1, -1] }], 'bad_seed', 'problems[0].seeds[1]'],
  [[{ seeds }, { seeds: [1] }], 'wrong_length', '3 seeds in problems[1]'],
  [[{ seeds, profile: 'nobody' }], 'unknown_name', 'profile'],
  [[{ seeds }, { seeds, profile: [1, 2] }], 'bad_profile', '16 floats'],
  [[{ seeds, profile: 5 }], 'wrong_type', 'problems[0].profile'],
])('searchActionSequences refuses the problems %j', async (problems, code, ...mentions) => {
  await expectRejection(searchActionSequences(problems as Any), code, ...mentions);
});

it.each<[options: unknown, code: ErrorCode, ...mentions: string[]]>([
  [null, 'wrong_type', 'search options'],
  [{ graders: 'v1' }, 'unknown_option', '"grader"'],
  [{ grader: 'v4' }, 'unknown_name', 'grader'],
  [{ minFirstHalfMean: '0' }, 'wrong_type', 'minFirstHalfMean'],
  [{ minFirstHalfMean: Number.NaN }, 'out_of_range', 'minFirstHalfMean'],
  [{ evaluations: 999 }, 'out_of_range', 'evaluations', '1000'],
  [{ initialSequences: [1, 2, 3] }, 'wrong_length', '28 actions'],
  [{ initialSequences: sequence.map((_, t) => (t === 3 ? 10 : 0)) }, 'illegal_action', 'initialSequences[3]'],
  [{ initialSequences: 'sleep' }, 'wrong_type', 'initialSequences'],
  [{ seed: 2 ** 32 }, 'out_of_range', 'seed'],
  [{ imagination: 1 }, 'wrong_type', 'imagination'],
  [{ world: { ...RHYTHM, decay: 1 } }, 'bad_world', 'decay'],
  [{ backend: 'gpu' }, 'unknown_name', 'backend'],
  [{ backend: 'reference', kernel: 'avx2' }, 'unknown_name', 'kernel'],
  [{ threads: 0 }, 'out_of_range', 'threads'],
  [{ onProgress: 1 }, 'wrong_type', 'onProgress'],
  [{ signal: {} }, 'wrong_type', 'signal'],
])('searchActionSequence refuses the options %j', async (options, code, ...mentions) => {
  await expectRejection(searchActionSequence({ seeds }, options as Any), code, ...mentions);
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
