/** Options of an audit: validation before the search, progress and cancellation. */
import { describe, expect, it } from 'vitest';
import { AuditEnvs } from '../../../src/evaluation/audit/audit-envs.js';
import { toAuditRequest } from '../../../src/evaluation/audit/audit-options.js';
import { fitBeliefs } from '../../../src/evaluation/audit/beliefs.js';
import { HEURISTIC } from '../../../src/evaluation/audit/players.js';
import { type AuditOptions, audit, type ErrorCode, RhythmError } from '../../../src/index.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

reportAbsentEngines();

/** A progress callback that fails if the audit searches instead of refusing its options. */
const failIfSearched = () => {
  throw new Error('Expected a refusal, got a search.');
};

const options: [name: string, options: unknown, code: ErrorCode, ...mentions: string[]][] = [
  ['null', null, 'wrong_type', 'audit options', 'null'],
  ['an unknown option', { graders: 'v1' }, 'unknown_option', 'audit options', '"grader"'],
  ['an unknown grader', { grader: 'v4' }, 'unknown_name', 'grader', '"v4"'],
  ['weights that sum to 2', { grader: [1, 1, 0, 0, 0, 0] }, 'bad_grader', 'sum to 1'],
  [
    'a weight of an unknown component',
    { grader: { name: 'x', weights: { luck: 1 } } },
    'bad_grader',
    '"luck"',
  ],
  ['a grader that is a number', { grader: 7 }, 'wrong_type', 'grader', 'got 7'],
  ['a seed above 2^32 - 1', { seed: 2 ** 32 }, 'out_of_range', 'seed', 'got 4294967296'],
  ['a fractional seed', { seed: 0.5 }, 'out_of_range', 'seed', 'got 0.5'],
  ['too few evaluations', { evaluations: 999 }, 'out_of_range', 'evaluations', '1000', 'got 999'],
  ['too many evaluations', { evaluations: 1e9 + 1 }, 'out_of_range', 'evaluations', 'got 1000000001'],
  ['evaluations that are text', { evaluations: '1000' }, 'wrong_type', 'evaluations', '"1000"'],
  ['one episode', { episodes: 1 }, 'out_of_range', 'episodes', 'from 2', 'got 1'],
  ['too many episodes', { episodes: 1e6 + 1 }, 'out_of_range', 'episodes', 'got 1000001'],
  ['one profile', { profiles: 1 }, 'out_of_range', 'profiles', 'from 2', 'got 1'],
  [
    'more profiles than episodes',
    { episodes: 9, profiles: 10 },
    'out_of_range',
    'profiles',
    'to 9',
    'got 10',
  ],
  [
    'more profiles than a batch holds',
    { episodes: 1e6, profiles: 524_289 },
    'out_of_range',
    'profiles',
    'to 524288',
  ],
  ['one planned episode', { plannerEpisodes: 1 }, 'out_of_range', 'plannerEpisodes', 'from 2', 'got 1'],
  [
    'more planned episodes than episodes',
    { episodes: 9, plannerEpisodes: 10 },
    'out_of_range',
    'plannerEpisodes',
    'to 9',
    'got 10',
  ],
  ['profiles that are null', { profiles: null }, 'wrong_type', 'profiles', 'null'],
  [
    'the former name of profiles',
    { persons: 3 },
    'unknown_option',
    '"persons"',
    'Use "profiles", its new name.',
  ],
  ['an unknown backend', { backend: 'gpu' }, 'unknown_name', 'backend', '"gpu"'],
  ['an unknown kernel', { backend: 'reference', kernel: 'avx2' }, 'unknown_name', 'kernel'],
  ['no threads', { threads: 0 }, 'out_of_range', 'threads', 'got 0'],
  ['an onProgress that is not a function', { onProgress: 1 }, 'wrong_type', 'onProgress', 'got 1'],
  ['a signal that is not an AbortSignal', { signal: {} }, 'wrong_type', 'signal', 'an object'],
];

it.each(options)('an audit refuses %s', async (_, value, code, ...mentions) => {
  const watched = value === null ? null : { onProgress: failIfSearched, ...(value as AuditOptions) };
  const reason = await audit(watched as AuditOptions).catch((error: unknown) => error);
  expectRefusal(
    () => {
      if (reason instanceof RhythmError) throw reason;
    },
    code,
    ...mentions,
  );
});

/** Options of a fast audit: two weights, so few searches. */
const TINY = {
  evaluations: 1000,
  episodes: 10,
  profiles: 2,
  plannerEpisodes: 2,
  grader: [0, 0, 0, 0.5, 0, 0.5],
};

describe.skipIf(NATIVE.length === 0)('progress and cancellation of an audit', () => {
  it('reports the progress of searches and planners together, up to the total, with default profiles', async () => {
    const calls: [number, number][] = [];
    const defaults = { profiles: undefined, seed: undefined };
    const { seeds, seed, evaluations } = await audit({
      ...TINY,
      ...defaults,
      onProgress: (done, total) => calls.push([done, total]),
    });
    // Undefined options take their defaults. The default number of profiles is limited by the number of episodes.
    expect([seed, evaluations, seeds.profiles]).toEqual([0, 1000, '20000-20009']);
    const done = calls.map(([count]) => count);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done[0]).toBeGreaterThan(0);
    expect(done.length).toBeGreaterThan(20);
    // Five searches with 512 seeds: for the policies open-loop and open-loop-honest, for discrete profiles, for the sequence
    // that maximises adaptation, and for the neutral profile. Eleven searches with 32 seeds: ten profiles and the neutral
    // profile. Four generations of 96 reactive policies with 64 episodes. Two episodes of each of six planners; each of these
    // episodes counts as 200,000.
    const total = 5 * 1000 * 512 + 11 * 1000 * 32 + 4 * 96 * 64 + 6 * 2 * 200_000;
    expect(new Set(calls.map(([, count]) => count))).toEqual(new Set([total]));
    expect(done.at(-1)).toBe(total);
  });

  it('rejects with the error of onProgress', async () => {
    await expect(audit({ ...TINY, onProgress: failIfSearched })).rejects.toThrow('got a search');
  });

  it('rejects with the reason of its signal, aborted before or during the searches', async () => {
    const reason = new Error('enough');
    const calls: number[] = [];
    const onProgress = (done: number) => calls.push(done);
    await expect(audit({ ...TINY, onProgress, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(calls).toEqual([]);
    for (const share of [0.1, 0.5, 0.99]) {
      const abort = new AbortController();
      let callsAfterAbort = 0;
      const stop = (done: number, total: number) => {
        if (abort.signal.aborted) callsAfterAbort++;
        if (done >= share * total) abort.abort(reason);
      };
      await expect(audit({ ...TINY, onProgress: stop, signal: abort.signal })).rejects.toBe(reason);
      expect([share, callsAfterAbort]).toEqual([share, 0]);
    }
  });

  it('rejects with the reason of its signal, aborted while it fits beliefs or scores players', async () => {
    const reason = new Error('enough');
    const requestAbortedSoon = () => {
      const abort = new AbortController();
      setImmediate(() => abort.abort(reason));
      return toAuditRequest({ ...TINY, signal: abort.signal });
    };
    await expect(fitBeliefs(requestAbortedSoon(), new Uint8Array(28), 'sampled')).rejects.toBe(reason);
    await using envs = new AuditEnvs(requestAbortedSoon(), { fitted: null, median: [], mean: [] });
    await expect(envs.play(HEURISTIC)).rejects.toBe(reason);
  });
});
