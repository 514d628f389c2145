/** The graders worker: plays the ranked policies, and computes how the ranking depends on the weights. */
import { expose, transfer } from 'comlink';
import type { PolicyComponents } from '../../../src/evaluation/ranking.js';
import { weightSensitivity } from '../../../src/evaluation/weight-sensitivity.js';
import type { StudentFile } from '../person/episode.js';
import { outcomeOf } from '../workers/calls.js';
import { createVecEnv, seedsFrom } from '../workers/platform.js';
import { loadWasm } from '../workers/wasm.js';
import { playPolicies } from './play-policies.js';

const api = {
  /** Plays all ranked policies, and students trained on the page, with `count` seeds (u32) from `first` on. */
  async play(first: number, count: number, students: readonly StudentFile[]) {
    const outcome = await outcomeOf(async () => {
      await loadWasm();
      using env = createVecEnv({ numEnvs: count });
      return await playPolicies(env, seedsFrom(first, count), students);
    });
    return transfer(outcome, outcome.ok ? outcome.value.map(({ buffer }) => buffer as ArrayBuffer) : []);
  },
  sensitivity: (policies: readonly PolicyComponents[], weights: readonly number[]) =>
    outcomeOf(() => weightSensitivity(policies, weights)),
};

export type GradersApi = typeof api;

expose(api);
