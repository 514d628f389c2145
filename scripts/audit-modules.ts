/** Formats what `npm run audits` stores in src, as modules in Biome's format. Scores have at most five decimals. */
import { repeatActions } from '../src/agents/policies/open-loop.js';
import { createVecEnv } from '../src/engine/node.js';
import { FRESH_FIRST, NUM_TRAINING_SEEDS } from '../src/evaluation/audit/audit-options.js';
import type { Interval } from '../src/shared/statistics.js';
import { TRAINING_SEEDS } from '../src/world/conditions.js';
import { ACTION_NAMES, NUM_SLOTS, NUM_STEPS } from '../src/world/fields.js';

/** 10,000 seeds, chosen by hand: fewer give a less exact mean score. */
const FRESH_SEEDS = { first: FRESH_FIRST, last: FRESH_FIRST + 9999 };

/** The fields of an audit's JSON that the modules need. All audits have the same version, world, seeds and sizes. */
export interface StoredAudit {
  readonly version: string;
  readonly world_digest: string;
  readonly grader: string;
  readonly seed: number;
  /** By kind of profiles. */
  readonly anchors: Readonly<Record<string, StoredAnchors>>;
  /** The sequences that the audit found, `open-loop` first. */
  readonly sequences: readonly {
    readonly actions: readonly string[];
    readonly training_score: number;
    readonly evaluations: number;
  }[];
  /** [480]: the parameters of the reactive policy. */
  readonly reactive: readonly number[];
}

interface StoredAnchors {
  readonly sequence: Interval;
  readonly sequence_seeds: string;
  readonly oracle: Interval;
  readonly oracle_seeds: string;
}

/** Returns the module of the scores. */
export function scoresModule(audits: readonly StoredAudit[]): string {
  const [{ version, world_digest: worldDigest, anchors }] = audits;
  const { sequence_seeds: sequenceSeeds, oracle_seeds: oracleSeeds } = anchors.sampled;
  return `/** Scores of audits. Made by \`npm run audits\`; do not edit. */

export const MEASURED = {
  /** Version of the package that measured the scores, and digest of the world. */
  version: '${version}',
  worldDigest: '${worldDigest}',
  /** Anchors (audit/read-anchors.ts): seeds, then mean, low and high by grader, kind of profiles and anchor. */
  sequenceSeeds: '${sequenceSeeds}',
  oracleSeeds: '${oracleSeeds}',
  anchors: {
${audits.map(anchorsOf).join('\n')}
  },
};
`;
}

function anchorsOf({ grader, anchors }: StoredAudit): string {
  const kinds = Object.entries(anchors).map(
    ([kind, { sequence, oracle }]) =>
      `      ${kind}: { sequence: ${listOf(sequence)}, oracle: ${listOf(oracle)} },`,
  );
  return `    ${grader}: {\n${kinds.join('\n')}\n    },`;
}

const listOf = ({ mean, low, high }: Interval): string => `[${[mean, low!, high!].map(rounded).join(', ')}]`;

const rounded = (score: number): number => Number(score.toFixed(5));

/** Returns the module of the reactive policies. */
export const reactiveModule = (audits: readonly StoredAudit[]): string =>
  `/** The reactive policies that the audits found. Made by \`npm run audits\`; do not edit. */

/** By grader: the parameters of a policy of search/reactive.ts, f64 [480], as decimals with spaces between them. */
export const REACTIVE_POLICIES = {
${audits.map(({ grader, reactive }) => `  ${grader}: '${reactive.join(' ')}',`).join('\n')}
} as const;
`;

/** Returns the module of the open-loop sequences. */
export function sequencesModule(audits: readonly StoredAudit[]): string {
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
${audits.map(sequenceOf).join('\n')}
  },
} as const;
`;
}

/** Returns the entry of a grader in the module of the sequences, one line per day. */
function sequenceOf({ grader, sequences: [openLoop] }: StoredAudit): string {
  const { actions, evaluations, training_score: trainingScore } = openLoop;
  const days = Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => {
    const names = actions.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `        [${names.map((name) => `'${name}'`).join(', ')}],`;
  });
  return `    ${grader}: {
      days: [
${days.join('\n')}
      ],
      evaluations: ${evaluations},
      trainingScore: ${rounded(trainingScore)},
      freshScore: ${rounded(meanScore(actions, grader))},
    },`;
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
