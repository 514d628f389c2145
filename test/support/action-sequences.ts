/** Plays action sequences with a plain environment, to check the results of searches. */

import type { ActionSequenceProblem } from '../../src/agents/search/search-options.js';
import { Episode } from '../../src/engine/reference/episode.js';
import { createVecEnv, type VecEnvOptions } from '../../src/index.js';

/** Returns the profile of a seed: f32 [16]. */
export const profileOf = (seed: number): Float32Array => new Episode().reset(seed).profile.slice();

/** Repeats a row for `count` environments. */
const repeated = <T extends Uint8Array | Float32Array>(row: T, count: number): T => {
  const rows = new (row.constructor as new (length: number) => T)(row.length * count);
  for (let i = 0; i < count; i++) rows.set(row, i * row.length);
  return rows;
};

/** Plays a problem's episodes with an action sequence or a policy. Returns means, summed in the order of the seeds. */
export function playProblem(
  choice: Uint8Array | 'heuristic',
  { seeds, profile = 'sampled' }: ActionSequenceProblem,
  options: Omit<VecEnvOptions, 'numEnvs'> = {},
): { score: number; firstHalfMean: number } {
  const numEnvs = seeds.length;
  using env = createVecEnv({ numEnvs, ...options });
  const profiles = typeof profile === 'string' ? profile : repeated(Float32Array.from(profile), numEnvs);
  env.reset({ seed: seeds, profiles });
  const { finalScores, firstHalfMeans } = env.run(
    choice === 'heuristic' ? choice : repeated(choice, numEnvs),
  );
  const mean = (column: Float32Array) => column.reduce((sum, value) => sum + value, 0) / numEnvs;
  return { score: mean(finalScores), firstHalfMean: mean(firstHalfMeans) };
}
