/** Plays the contestants in a worker: on the reference, which is exact everywhere. */
import { expose, transfer } from 'comlink';
import { createVecEnv } from '../../../src/browser.js';
import type { PolicyComponents } from '../../../src/evaluate/ranking.js';
import { type WeightSensitivity, weightSensitivity } from '../../../src/evaluate/sensitivity.js';
import { type Earned, playAll } from './contestants.js';

const api = {
  /** What everybody earns with the people of these seeds. @param first u32 */
  play(first: number, count: number): Earned {
    using env = createVecEnv({ numEnvs: count, backend: 'reference' });
    const earned = playAll(
      env,
      Uint32Array.from({ length: count }, (_, i) => first + i),
    );
    return transfer(
      earned,
      earned.map(({ buffer }) => buffer as ArrayBuffer),
    );
  },
  sensitivity: (policies: readonly PolicyComponents[], weights: readonly number[]): WeightSensitivity[] =>
    weightSensitivity(policies, weights),
};

export type GradersWorker = typeof api;

expose(api);
