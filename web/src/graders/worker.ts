/** The graders worker: plays the ranked policies, and computes how the ranking depends on the weights. */
import { expose, transfer } from 'comlink';
import type { PolicyComponents } from '../../../src/evaluation/ranking.js';
import { weightSensitivity } from '../../../src/evaluation/weight-sensitivity.js';
import type { StudentFile } from '../person/episode.js';
import { outcomeOf } from '../workers/calls.js';
import { createVecEnv } from '../workers/platform.js';
import { loadWasm } from '../workers/wasm.js';
import { type ComponentsByPolicy, playPolicies } from './play-policies.js';

const api = {
  /** Plays all ranked policies, and students trained on the page, with `count` seeds (u32) from `first` on. */
  async play(first: number, count: number, students: readonly StudentFile[]) {
    const outcome = await outcomeOf(() => play(first, count, students));
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

async function play(
  first: number,
  count: number,
  students: readonly StudentFile[],
): Promise<ComponentsByPolicy> {
  await loadWasm();
  using env = createVecEnv({ numEnvs: count });
  return playPolicies(
    env,
    Uint32Array.from({ length: count }, (_, i) => first + i),
    students,
  );
}

expose(api);
