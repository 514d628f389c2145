/** Autoreset: the seed, profile and grader of the next episode. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { copyColumns, expectEqual } from '../../support/bits.js';
import { ENGINES, openOn } from '../../support/engines.js';
import { forAll, Random } from '../../support/random.js';
import { envColumns } from '../../support/unchanged.js';

const U32 = 2 ** 32;
/** numEnvs, then the two numbers of seedRange. */
const RANGES: [numEnvs: number, low: number, size: number][] = [
  [3, 100, 7],
  [3, 100, 9],
  [4, 5, 1],
  [5, 10, 2],
  [1, 0, 3],
  [2, 2, 2],
  [3, U32 - 10, 10],
  [3, 0, U32],
  [16, 2 ** 31, 2 ** 31],
  [17, 1, U32 - 1],
];

/** Ends the current episode of every environment and starts the next. */
function finish(env: VecEnv): void {
  const actions = new Uint8Array(env.numEnvs);
  env.run('heuristic', { stops: new Uint8Array(env.numEnvs).fill(NUM_STEPS - 1) });
  env.step(actions);
  if (env.metadata.autoresetMode === 'next-step') env.step(actions);
}

/** Computes the seed after `k` episodes as documented, in BigInt. */
const seedAfter = (first: number, k: number, [numEnvs, low, size]: (typeof RANGES)[number]): number =>
  Number(BigInt(low) + ((BigInt(first) - BigInt(low) + BigInt(k) * BigInt(numEnvs)) % BigInt(size)));

/** Draws a seed of the range for each environment. That of environment 0 is the last of the range. */
const drawSeeds = (random: Random, [numEnvs, low, size]: (typeof RANGES)[number]): Uint32Array =>
  Uint32Array.from({ length: numEnvs }, (_, i) => low + (i === 0 ? size - 1 : random.integer(0, size - 1)));

describe.each(ENGINES)('$name', (engine) => {
  describe.each(['same-step', 'next-step'] as const)('%s', (autoreset) => {
    it.each(RANGES)('%i environments go through the range of seeds from %i of size %i', (...range) => {
      const [numEnvs, low, size] = range;
      using env = openOn(engine, { numEnvs, autoreset, seedRange: [low, size] });
      const first = drawSeeds(new Random(`${range}`), range);
      env.reset({ seed: first });
      for (let k = 1; k <= 20; k++) {
        finish(env);
        expect(Array.from(env.seeds)).toEqual(Array.from(first, (seed) => seedAfter(seed, k, range)));
        expect(env.episodeNumbers.every((number) => number === k)).toBe(true);
      }
    });

    it('env.seeds has the seeds of the current episodes', () => {
      const range = [5, U32 - 12, 12] as (typeof RANGES)[number];
      using env = openOn(engine, { numEnvs: 5, autoreset, seedRange: [U32 - 12, 12], profiles: 'discrete' });
      using fresh = openOn(engine, { numEnvs: 5, profiles: 'discrete' });
      env.reset({ seed: drawSeeds(new Random('played'), range) });
      for (let k = 0; k < 6; k++) {
        finish(env);
        fresh.reset({ seed: env.seeds });
        const [got, expected] = [env, fresh].map((each) => each.run('random', { trajectory: true }));
        expectEqual(copyColumns(expected.trajectory!), copyColumns(got.trajectory!), `episode ${k}:`);
        expectEqual({ scores: expected.finalScores }, { scores: got.finalScores });
        // After a run has ended the episodes, a step resets them in next-step mode. Same-step mode needs a reset.
        if (autoreset === 'same-step') env.reset({ seed: env.seeds });
        else env.step(new Uint8Array(5));
      }
    });

    it('if numEnvs divides the size of the range, every seed is played once in a pass', () => {
      using env = openOn(engine, { numEnvs: 4, autoreset, seedRange: [50, 12] });
      env.reset({ seed: 52 });
      const played = Array.from(env.seeds);
      for (let k = 1; k < 3; k++) {
        finish(env);
        played.push(...env.seeds);
      }
      expect(played.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => 50 + i));
    });

    it('a masked reset sets new seeds only where the mask is true', () => {
      using env = openOn(engine, { numEnvs: 2, autoreset, seedRange: [0, 5] });
      env.reset({ seed: 0 });
      finish(env);
      expect(Array.from(env.seeds)).toEqual([2, 3]);
      env.reset({ seed: [4, 4], mask: [false, true] });
      expect([Array.from(env.seeds), Array.from(env.episodeNumbers)]).toEqual([
        [2, 4],
        [1, 0],
      ]);
      finish(env);
      expect([Array.from(env.seeds), Array.from(env.episodeNumbers)]).toEqual([
        [4, 1],
        [2, 1],
      ]);
    });

    it('profiles and graders of a reset stay until the next reset', () => {
      forAll(6, (random) => {
        const n = random.pick([1, 5, 18]);
        const defaults = { profiles: 'workaholic_stoic', grader: 'v1' };
        using env = openOn(engine, { numEnvs: n, autoreset, ...defaults });
        using fresh = openOn(engine, { numEnvs: n, ...defaults });
        // 0.01 and 100 are chosen by hand.
        const chosen = {
          profiles: random.profiles(n).map((x) => Math.fround(Math.min(Math.max(x, 0.01), 100))),
          graders: Float32Array.from(random.graders(n)),
        };
        for (const choice of [chosen, {}]) {
          env.reset({ seed: random.seeds(n), ...choice });
          for (let k = 0; k < 3; k++) {
            finish(env);
            fresh.reset({ seed: env.seeds, ...choice });
            expect(env.beliefTargets()).toEqual(fresh.beliefTargets());
            expect(env.stateHash()).toEqual(fresh.stateHash());
          }
          // The score depends on the grader's weights.
          const [got, expected] = [env, fresh].map((each) =>
            each.run('random', { beliefs: [0.1, 0.5, 0.9] }),
          );
          expectEqual({ scores: expected.finalScores }, { scores: got.finalScores });
        }
      });
    });

    it('a masked reset without profiles and graders restores the defaults where the mask is true', () => {
      using env = openOn(engine, { numEnvs: 2, autoreset, profiles: 'sampled' });
      using fresh = openOn(engine, { numEnvs: 2, autoreset });
      env.reset({ seed: 7, profiles: 'extrovert_night_owl', graders: 'v1' });
      env.reset({ seed: 7, mask: [true, false] });
      fresh.reset({ seed: 7, profiles: ['sampled', 'extrovert_night_owl'], graders: ['v2', 'v1'] });
      const results = [fresh, env].map((each) => each.run('heuristic'));
      expectEqual(envColumns(fresh, results[0]), envColumns(env, results[1]));
    });
  });
});
