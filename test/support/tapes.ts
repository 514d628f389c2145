/** Tapes played week by week, as whoever does not search plays them. */
import { createVecEnv, type VecEnvOptions } from '../../src/index.js';
import { Episode } from '../../src/reference/episode.js';
import type { TapeProblem } from '../../src/search/options.js';

/** f32 [16]: the person of a seed. */
export const personOf = (seed: number): Float32Array => new Episode().reset(seed).profile.slice();

/** A row for each of `count` slots. */
const repeated = <T extends Uint8Array | Float32Array>(row: T, count: number): T => {
  const rows = new (row.constructor as new (length: number) => T)(row.length * count);
  for (let i = 0; i < count; i++) rows.set(row, i * row.length);
  return rows;
};

/**
 * What a problem's weeks come to, with one tape or a policy: means, added up in the order of the seeds.
 */
export function playProblem(
  choice: Uint8Array | 'heuristic',
  { seeds, profile = 'sampled' }: TapeProblem,
  options: Omit<VecEnvOptions, 'numEnvs'> = {},
): { score: number; earlyMean: number } {
  const numEnvs = seeds.length;
  using env = createVecEnv({ numEnvs, ...options });
  const person = typeof profile === 'string' ? profile : repeated(Float32Array.from(profile), numEnvs);
  env.reset({ seed: seeds, profiles: person });
  const { finalScores, earlyMeans } = env.run(choice === 'heuristic' ? choice : repeated(choice, numEnvs));
  const mean = (column: Float32Array) => column.reduce((sum, value) => sum + value, 0) / numEnvs;
  return { score: mean(finalScores), earlyMean: mean(earlyMeans) };
}
