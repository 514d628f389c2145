/** Formats components as JSON lines: a header, then one line per episode. */
import type { PlayedEpisodes } from '../../evaluation/evaluate-options.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { float32Decimal } from '../../shared/float32-decimal.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../world/fields.js';

/** Returns the header, the first line of a file, with its line end. */
export function headerText({ version, worldDigest, grader, graderWeights }: RunInfo): string {
  const schema = SCHEMAS.components;
  const header = { schema, version, world_digest: worldDigest, grader, grader_weights: graderWeights };
  return `${JSON.stringify(header)}\n`;
}

/** The numbers of a line besides the components: the key in the line, and the array of the result. */
const NUMBERS = {
  early_mean: 'firstHalfMeans',
  late_mean: 'secondHalfMeans',
  belief_mae: 'beliefMae',
  final_score: 'finalScores',
} as const;

/** Returns a line per episode, with line ends. A float32 is written as its shortest decimal. */
export function rowsText({ seeds, result, ...played }: PlayedEpisodes): string {
  const { condition, policy, belief, sequenceGrader, oracle, profile } = played;
  const origin = {
    condition,
    policy,
    belief,
    ...(sequenceGrader === null ? {} : { sequence_grader: sequenceGrader }),
    ...(oracle ? { oracle } : {}),
    profile,
  };
  return Array.from(seeds, (seed, i) => {
    const components = COMPONENT_NAMES.map((name, k) => [name, result.components[i * NUM_COMPONENTS + k]]);
    const others = Object.entries(NUMBERS).map(([name, array]) => [name, result[array][i]]);
    const numbers = Object.fromEntries(
      [...components, ...others].map(([name, value]) => [name, float32Decimal(value as number)]),
    );
    return `${JSON.stringify({ ...origin, seed, ...numbers })}\n`;
  }).join('');
}
