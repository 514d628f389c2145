/** Plays the episodes of a row of the golden tables through the package's API for browsers, on WebGPU. */
import { createAsyncVecEnv } from '../../../src/browser.js';

export interface Row {
  readonly numEnvs: number;
  /** Environment i plays seed `firstSeed + i`. */
  readonly firstSeed: number;
  /** `sampled` or a named profile. */
  readonly profile: string;
  readonly grader: string;
  readonly policy: 'random' | 'heuristic';
  /** The belief of every step; null for no belief. */
  readonly belief: readonly number[] | null;
}

/** Plays the episodes of a row. @returns the final scores, f32 [numEnvs]. */
export async function finalScoresOf(row: Row): Promise<Float32Array> {
  const { numEnvs, firstSeed, profile, grader, policy, belief } = row;
  const env = await createAsyncVecEnv({ backend: 'webgpu', numEnvs, grader });
  await env.reset({ seed: firstSeed, profiles: profile });
  const { finalScores } = await env.run(policy, belief === null ? {} : { beliefs: belief });
  await env.close();
  return finalScores;
}
