/** Tests of the impossible world, in which every profile is neutral, and of constant beliefs that are fitted to profiles. */
import { describe, expect, it } from 'vitest';
import { toAuditRequest } from '../../../src/evaluation/audit/audit-options.js';
import { neutralProfile, profileChoice } from '../../../src/evaluation/audit/audit-profiles.js';
import { fitBeliefs } from '../../../src/evaluation/audit/beliefs.js';
import { playImpossibleWorld } from '../../../src/evaluation/audit/impossible-world.js';
import { SearchProgress } from '../../../src/evaluation/audit/search-progress.js';
import { createVecEnv, openLoopActions, RHYTHM } from '../../../src/index.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';

reportAbsentEngines();

const TINY = { evaluations: 1000, episodes: 100, profiles: 2, plannerEpisodes: 4 };
const sequence = openLoopActions('v2');

it('the profile of the impossible world has the neutral traits and equal weights, and profileChoice repeats it', () => {
  const profile = neutralProfile();
  expect([...profile.subarray(0, 11)]).toEqual(RHYTHM.traits.map(({ neutral }) => Math.fround(neutral)));
  expect([...profile.subarray(11)]).toEqual(Array(5).fill(Math.fround(0.2)));
  const rows = profileChoice('neutral', 3) as Float32Array;
  expect([...rows.subarray(32)]).toEqual([...profile]);
});

describe.skipIf(NATIVE.length === 0)('the best constant belief', () => {
  it('is null under v1, near the medians under v2 and near the means under v3', async () => {
    const fitted = (grader: string) => fitBeliefs(toAuditRequest({ ...TINY, grader }), sequence, 'sampled');
    expect((await fitted('v1')).fitted).toBeNull();
    for (const [grader, near] of [
      ['v2', 'median'],
      ['v3', 'mean'],
    ] as const) {
      const beliefs = await fitted(grader);
      beliefs.fitted!.forEach((value, k) => {
        // The bound is chosen by hand. Medians and means differ by less than 0.015, so it does not tell them apart.
        expect(Math.abs(value - beliefs[near][k])).toBeLessThan(0.06);
      });
    }
  });

  it('is the belief target where every profile is neutral', async () => {
    const request = toAuditRequest({ ...TINY, grader: 'v3' });
    const { fitted } = await fitBeliefs(request, sequence, 'neutral');
    using env = createVecEnv({ numEnvs: 1, profiles: neutralProfile() });
    env.reset({ seed: 0 });
    env.beliefTargets().forEach((target, k) => {
      expect(fitted![k]).toBeCloseTo(target, 2);
    });
  });
});

describe.skipIf(NATIVE.length === 0)(
  'in the impossible world, knowing the profile adds about nothing',
  () => {
    it.each(['v2', 'v3'])('under %s', async (grader) => {
      const request = toAuditRequest({ ...TINY, grader });
      const { sequence, planner, score, seeds, plannerSeeds } = await playImpossibleWorld(
        request,
        new SearchProgress(request),
      );
      expect(sequence.low! <= 0 || sequence.high! < 0.01).toBe(true);
      expect(planner.mean).toBeLessThan(0.01);
      expect(score.mean).toBeGreaterThan(0.5);
      // The planners play half of `plannerEpisodes` here.
      expect([seeds, plannerSeeds]).toEqual(['20000-20099', '20000-20001']);
    });
  },
);
