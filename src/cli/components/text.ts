/** Components as JSON lines: one that says where they come from, then one for each episode of each policy. */
import type { PlayedEpisodes } from '../../evaluate/options.js';
import type { RunInfo } from '../../evaluate/run-info.js';
import { SCHEMAS } from '../../schemas.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';

/** The first line, with its end. */
export function headerText({ version, worldDigest, grader, graderWeights }: RunInfo): string {
  const schema = SCHEMAS.components;
  const header = { schema, version, world_digest: worldDigest, grader, grader_weights: graderWeights };
  return `${JSON.stringify(header)}\n`;
}

/** Numbers of an episode beside its components, by what results call them. */
const NUMBERS = {
  early_mean: 'earlyMeans',
  late_mean: 'lateMeans',
  belief_mae: 'beliefMae',
  final_score: 'finalScores',
} as const;

/** A line for each episode, with its end. A float32 is printed as the float64 that equals it. */
export function rowsText({ seeds, result, ...played }: PlayedEpisodes): string {
  const { condition, policy, belief, tape, oracle, profile } = played;
  const what = {
    condition,
    policy,
    belief,
    ...(tape === null ? {} : { tape }),
    ...(oracle ? { oracle } : {}),
    profile,
  };
  return Array.from(seeds, (seed, i) => {
    const components = COMPONENT_NAMES.map((name, k) => [name, result.components[i * NUM_COMPONENTS + k]]);
    const numbers = Object.entries(NUMBERS).map(([name, array]) => [name, result[array][i]]);
    return `${JSON.stringify({ ...what, seed, ...Object.fromEntries([...components, ...numbers]) })}\n`;
  }).join('');
}
