/** Audits: options, progress, cancellation, a user's policies, fitted beliefs, and the world in which inference is worth nothing. */
import { describe, expect, it } from 'vitest';
import { openPlanner } from '../../../src/agents/planner/planner.js';
import { AuditEnvs } from '../../../src/evaluation/audit/audit-envs.js';
import {
  neutralProfile,
  profileChoice,
  toAuditRequest,
} from '../../../src/evaluation/audit/audit-options.js';
import { fitBeliefs } from '../../../src/evaluation/audit/beliefs.js';
import { playImpossibleWorld } from '../../../src/evaluation/audit/controls.js';
import { HEURISTIC, type Player } from '../../../src/evaluation/audit/players.js';
import { recordPolicies } from '../../../src/evaluation/audit/recordings.js';
import { SearchProgress } from '../../../src/evaluation/audit/searches.js';
import {
  type AuditOptions,
  audit,
  builtin,
  createVecEnv,
  type ErrorCode,
  openLoopActions,
  RHYTHM,
  withConstant,
} from '../../../src/index.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';
import { expectRefusal, expectRejection } from '../../support/refusals.js';

reportAbsentEngines();

/** A progress callback that fails if the audit searches instead of refusing its options. */
const failIfSearched = () => {
  throw new Error('Expected a refusal, got a search.');
};

it.each<[options: unknown, code: ErrorCode, ...mentions: string[]]>([
  [null, 'wrong_type', 'audit options'],
  [{ graders: 'v1' }, 'unknown_option', '"grader"'],
  [{ grader: 'v4' }, 'unknown_name', 'grader'],
  [{ grader: [1, 1, 0, 0, 0, 0, 0, 0] }, 'bad_grader', 'sum to 1'],
  [{ seed: 2 ** 32 }, 'out_of_range', 'seed'],
  [{ seed: 0.5 }, 'out_of_range', 'seed'],
  [{ evaluations: 999 }, 'out_of_range', 'evaluations', '1000'],
  [{ evaluations: 1e9 + 1 }, 'out_of_range', 'evaluations'],
  [{ evaluations: '1000' }, 'wrong_type', 'evaluations'],
  [{ episodes: 1 }, 'out_of_range', 'episodes', 'from 2'],
  [{ episodes: 1e6 + 1 }, 'out_of_range', 'episodes'],
  [{ profiles: 1 }, 'out_of_range', 'profiles', 'from 2'],
  [{ episodes: 9, profiles: 10 }, 'out_of_range', 'profiles', 'to 9'],
  // More profiles than a batch holds.
  [{ episodes: 1e6, profiles: 524_289 }, 'out_of_range', 'profiles', 'to 524288'],
  [{ plannerEpisodes: 1 }, 'out_of_range', 'plannerEpisodes', 'from 2'],
  [{ episodes: 9, plannerEpisodes: 10 }, 'out_of_range', 'plannerEpisodes', 'to 9'],
  [{ profiles: null }, 'wrong_type', 'profiles'],
  [{ persons: 3 }, 'unknown_option', '"persons"'],
  [{ backend: 'gpu' }, 'unknown_name', 'backend'],
  [{ backend: 'reference', kernel: 'avx2' }, 'unknown_name', 'kernel'],
  [{ threads: 0 }, 'out_of_range', 'threads'],
  [{ onProgress: 1 }, 'wrong_type', 'onProgress'],
  [{ signal: {} }, 'wrong_type', 'signal'],
])('an audit refuses the options %j', async (options, code, ...mentions) => {
  const watched = options === null ? null : { onProgress: failIfSearched, ...(options as AuditOptions) };
  await expectRejection(audit(watched as AuditOptions), code, ...mentions);
});

/** Options of a fast audit: two weights, so few searches. */
const TINY = {
  evaluations: 1000,
  episodes: 10,
  profiles: 2,
  plannerEpisodes: 2,
  grader: [0, 0, 0, 0.5, 0, 0.5, 0, 0],
};

describe.skipIf(NATIVE.length === 0)('progress and cancellation of an audit', () => {
  it('reports the progress of searches and planners together, up to the total, with default profiles', async () => {
    const calls: [number, number][] = [];
    const defaults = { profiles: undefined, seed: undefined };
    const { seeds, seed, evaluations, grader } = await audit({
      ...TINY,
      ...defaults,
      onProgress: (done, total) => calls.push([done, total]),
    });
    // Undefined options take their defaults. The default number of profiles is limited by the number of episodes.
    expect([seed, evaluations, seeds.profiles, grader]).toEqual([0, 1000, '20000-20009', 'custom']);
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
    for (const share of [0.1, 0.9]) {
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

describe('policies of an audit', () => {
  const heuristic = { open: builtin('heuristic').open };
  const requestOf = (policies: AuditOptions['policies']) =>
    toAuditRequest({ policies, episodes: 6, plannerEpisodes: 6, profiles: 2 });

  it('score as the built-in policies with the same actions', async () => {
    const request = requestOf({ mine: heuristic, 'mine+constant': withConstant(heuristic) });
    const players = await recordPolicies(request);
    expect(players).toMatchObject([
      { name: 'mine', role: 'policy', belief: 'none' },
      { name: 'mine+constant', role: 'policy', belief: 'own' },
    ]);
    await using envs = new AuditEnvs(request, { fitted: null } as never);
    const scoresOf = async (player: Player) => (await envs.play(player)).finalScores;
    expect(await scoresOf(players[0])).toEqual(await scoresOf(HEURISTIC));
    expect(await scoresOf(players[1])).toEqual(await scoresOf({ ...HEURISTIC, belief: 'constant' }));
  });

  it.each(['planner', 'open-loop+fitted', 'push:progress', 'reactive'])('may not be named %s', (name) => {
    expectRefusal(() => requestOf({ [name]: heuristic }), 'unknown_name', name, 'another name');
  });

  it('that return invalid actions are named in the error', async () => {
    const wrong = recordPolicies(requestOf({ mine: () => ({ actions: [] }) }));
    await expect(wrong).rejects.toThrow(/The policy "mine" returned it at step 0/);
  });
});

/** Options of a search for beliefs, which takes longer than TINY. */
const BELIEFS = { evaluations: 1000, episodes: 100, profiles: 2, plannerEpisodes: 4 };

it('the profile of the impossible world has the neutral traits and equal weights, and profileChoice repeats it', () => {
  const profile = neutralProfile();
  expect([...profile.subarray(0, 11)]).toEqual(RHYTHM.traits.map(({ neutral }) => Math.fround(neutral)));
  expect([...profile.subarray(11)]).toEqual(Array(5).fill(Math.fround(0.2)));
  const rows = profileChoice('neutral', 3) as Float32Array;
  expect([...rows.subarray(32)]).toEqual([...profile]);
});

describe.skipIf(NATIVE.length === 0)('the best constant belief', () => {
  it('is null under v1', async () => {
    const { fitted } = await fitBeliefs(
      toAuditRequest({ ...BELIEFS, grader: 'v1' }),
      openLoopActions('v2'),
      'sampled',
    );
    expect(fitted).toBeNull();
  });

  it('is the belief target where every profile is neutral', async () => {
    const request = toAuditRequest({ ...BELIEFS, grader: 'v3' });
    const { fitted } = await fitBeliefs(request, openLoopActions('v2'), 'neutral');
    using env = createVecEnv({ numEnvs: 1, profiles: neutralProfile() });
    env.reset({ seed: 0 });
    env.beliefTargets().forEach((target, k) => {
      expect(fitted![k]).toBeCloseTo(target, 2);
    });
  });
});

it.skipIf(NATIVE.length === 0)(
  'in the impossible world, knowing the profile adds about nothing',
  async () => {
    const request = { ...toAuditRequest({ ...BELIEFS, grader: 'v3' }), openPlanner };
    const found = await playImpossibleWorld(request, new SearchProgress(request));
    expect(found.sequence.low! <= 0 || found.sequence.high! < 0.01).toBe(true);
    expect(found.planner.mean).toBeLessThan(0.01);
    expect(found.score.mean).toBeGreaterThan(0.5);
    // The planners play half of `plannerEpisodes` here.
    expect([found.seeds, found.plannerSeeds]).toEqual(['20000-20099', '20000-20001']);
  },
);
