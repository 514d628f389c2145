/** Plays the contestants in a worker: on the reference, which is exact everywhere. */
import { expose, transfer } from 'comlink';
import { createVecEnv } from '../../../src/browser.js';
import type { PolicyComponents } from '../../../src/evaluate/ranking.js';
import { weightSensitivity } from '../../../src/evaluate/sensitivity.js';
import { outcomeOf } from '../engine/outcome.js';
import { type Earned, playAll } from './playing.js';

const api = {
  /** What everybody earns with the people of these seeds. @param first u32 */
  async play(first: number, count: number) {
    const outcome = await outcomeOf(() => play(first, count));
    return outcome.ok
      ? transfer(
          outcome,
          outcome.value.map(({ buffer }) => buffer as ArrayBuffer),
        )
      : outcome;
  },
  sensitivity: (policies: readonly PolicyComponents[], weights: readonly number[]) =>
    outcomeOf(() => weightSensitivity(policies, weights)),
};

export type GradersApi = typeof api;

function play(first: number, count: number): Earned {
  using env = createVecEnv({ numEnvs: count, backend: 'reference' });
  return playAll(
    env,
    Uint32Array.from({ length: count }, (_, i) => first + i),
  );
}

expose(api);
