/** Formats the stored open-loop action sequences and reactive policies as modules in Biome's format. */
import { repeatActions } from '../src/agents/policies/open-loop.js';
import { createVecEnv } from '../src/engine/node.js';
import { FRESH_FIRST, NUM_TRAINING_SEEDS } from '../src/evaluation/audit/audit-seeds.js';
import { TRAINING_SEEDS } from '../src/world/conditions.js';
import { ACTION_NAMES, NUM_SLOTS, NUM_STEPS } from '../src/world/fields.js';

/** 10,000 seeds, chosen by hand: fewer give a less exact mean score. */
const FRESH_SEEDS = { first: FRESH_FIRST, last: FRESH_FIRST + 9999 };

/** The fields of an audit's JSON that the module needs. */
export interface SequenceAudit {
  readonly version: string;
  readonly world_digest: string;
  readonly grader: string;
  readonly seed: number;
  /** The sequences that the audit found, `open-loop` first. */
  readonly sequences: readonly {
    readonly actions: readonly string[];
    readonly training_score: number;
    readonly evaluations: number;
  }[];
  /** [480]: the parameters of the reactive policy. */
  readonly reactive: readonly number[];
}

/** Returns the module of the reactive policies. */
export const reactiveModule = (audits: readonly SequenceAudit[]): string =>
  `/** The reactive policies that the audits found. Made by \`npm run audits\`; do not edit. */

/** By grader: the parameters of a policy of search/reactive.ts, f64 [480], as decimals with spaces between them. */
export const REACTIVE_POLICIES = {
${audits.map(({ grader, reactive }) => `  ${grader}: '${reactive.join(' ')}',`).join('\n')}
} as const;
`;

/** Returns the module of the sequences. The audits are of the same version, world and seed. Scores have at most five decimals. */
export function sequencesModule(audits: readonly SequenceAudit[]): string {
  const [{ version, world_digest: worldDigest, seed }] = audits;
  const { first, last } = TRAINING_SEEDS;
  return `/** The best fixed action sequences that the audits found. Made by \`npm run audits\`; do not edit. */

export const OPEN_LOOP_SEQUENCES = {
  /** Version of the package that found the sequences, and digest of the world. */
  version: '${version}',
  worldDigest: '${worldDigest}',
  /** Seeds of the search, evenly spaced in this range. */
  trainingSeeds: { count: ${NUM_TRAINING_SEEDS}, first: ${first}, last: ${last} },
  /** Seeds of \`freshScore\`, which the search does not use: all in this range. */
  freshSeeds: { first: ${FRESH_SEEDS.first}, last: ${FRESH_SEEDS.last} },
  /** Seed of the search's random numbers. */
  seed: ${seed},
  /**
   * By grader. \`evaluations\` is the number of sequences that the search scored. Scores are means to five decimals, without
   * a belief.
   */
  sequences: {
${audits.map(entryOf).join('\n')}
  },
} as const;
`;
}

/** Returns the entry of a grader in the module. */
function entryOf({ grader, sequences: [openLoop] }: SequenceAudit): string {
  return `    ${grader}: {
      days: [
${rowsOf(openLoop.actions).join('\n')}
      ],
      evaluations: ${openLoop.evaluations},
      trainingScore: ${rounded(openLoop.training_score)},
      freshScore: ${rounded(meanScore(openLoop.actions, grader))},
    },`;
}

const rounded = (score: number): number => Number(score.toFixed(5));

/** Formats a sequence, one line per day. */
function rowsOf(actions: readonly string[]): string[] {
  return Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => {
    const names = actions.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `        [${names.map((name) => `'${name}'`).join(', ')}],`;
  });
}

/** Returns the mean score on the fresh seeds, without a belief. */
function meanScore(actions: readonly string[], grader: string): number {
  const numEnvs = FRESH_SEEDS.last - FRESH_SEEDS.first + 1;
  const codes = Uint8Array.from(actions, (name) => ACTION_NAMES.indexOf(name));
  using env = createVecEnv({ numEnvs, grader });
  env.reset({ seed: FRESH_SEEDS.first });
  const { finalScores } = env.run(repeatActions(codes, numEnvs));
  return finalScores.reduce((sum, score) => sum + score, 0) / numEnvs;
}
