/** A row of the golden tables in a page, by what a page would use: whole episodes in one call, to their final scores. */
import { createAsyncVecEnv } from '../../src/browser.js';

export interface Row {
  readonly numEnvs: number;
  /** Slot i plays this plus i. */
  readonly firstSeed: number;
  /** `sampled`, or a named profile. */
  readonly profile: string;
  readonly grader: string;
  readonly policy: 'random' | 'heuristic';
  /** Given at every step; null for none. */
  readonly belief: readonly number[] | null;
}

/** f32 [numEnvs]. */
export async function finalScores(row: Row): Promise<Float32Array> {
  const { numEnvs, firstSeed, profile, grader, policy, belief } = row;
  const env = await createAsyncVecEnv({ backend: 'webgpu', numEnvs, grader });
  await env.reset({ seed: firstSeed, profiles: profile });
  const { finalScores } = await env.run(policy, belief === null ? {} : { beliefs: belief });
  await env.close();
  return finalScores;
}
