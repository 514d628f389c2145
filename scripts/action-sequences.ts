/** Searches for the open-loop action sequences and writes their module. With --check it fails if the module differs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { repeatActions } from '../src/agents/policies/open-loop.js';
import { OPEN_LOOP_SEQUENCES } from '../src/agents/policies/open-loop-sequences.js';
import { searchActionSequence } from '../src/agents/search/find-sequences.js';
import { TRAINING_SEEDS } from '../src/agents/search/search-seeds.js';
import { createVecEnv } from '../src/engine/node.js';
import { FRESH_FIRST, NUM_TRAINING_SEEDS, trainingSeeds } from '../src/evaluation/audit/audit-seeds.js';
import { packageVersion } from '../src/shared/version.js';
import { ACTION_NAMES, GRADER_NAMES, NUM_SLOTS, NUM_STEPS } from '../src/world/fields.js';
import { createWorld } from '../src/world/world.js';

const PATH = 'src/agents/policies/open-loop-sequences.ts';
const FRESH_SEEDS = { first: FRESH_FIRST, last: FRESH_FIRST + 9999 };
const SEED = 0;

const check = process.argv.includes('--check');
const url = new URL(`../${PATH}`, import.meta.url);
const text = await moduleText();
if (!check) {
  writeFileSync(url, text);
} else if (readFileSync(url, 'utf8') !== text) {
  console.error(
    `${PATH} differs from the search: run npm run action-sequences, and say in the commit what has changed.`,
  );
  process.exitCode = 1;
}

/** Searches all sequences and returns the text of the module in Biome's format. */
async function moduleText(): Promise<string> {
  const entries = [];
  for (const grader of GRADER_NAMES) entries.push(await entryOf(grader));
  const { first, last } = TRAINING_SEEDS;
  return `/** The best fixed action sequences that a search found. Made by \`npm run action-sequences\`; do not edit. */

export const OPEN_LOOP_SEQUENCES = {
  /** Version of the package that found the sequences, and digest of the world. */
  version: '${check ? OPEN_LOOP_SEQUENCES.version : packageVersion()}',
  worldDigest: '${createWorld().digest}',
  /** Seeds of the search, evenly spaced in this range. */
  trainingSeeds: { count: ${NUM_TRAINING_SEEDS}, first: ${first}, last: ${last} },
  /** Seeds of \`freshScore\`, which the search does not use: all in this range. */
  freshSeeds: { first: ${FRESH_SEEDS.first}, last: ${FRESH_SEEDS.last} },
  /** Seed of the search. */
  seed: ${SEED},
  /** By grader. Scores are means to five decimals, without a belief. */
  sequences: {
${entries.join('\n')}
  },
} as const;
`;
}

/** Returns the entry of a grader in the module. */
async function entryOf(grader: string): Promise<string> {
  const {
    actions: sequence,
    score,
    evaluations,
  } = await searchActionSequence({ seeds: trainingSeeds() }, { grader, seed: SEED });
  return `    ${grader}: {
      days: [
${rowsOf(sequence).join('\n')}
      ],
      evaluations: ${evaluations},
      trainingScore: ${rounded(score)},
      freshScore: ${rounded(meanScore(sequence, grader))},
    },`;
}

function rounded(score: number): number {
  return Number(score.toFixed(5));
}

/** Formats a sequence, one line per day. */
function rowsOf(sequence: Uint8Array): string[] {
  const names = Array.from(sequence, (action) => `'${ACTION_NAMES[action]}'`);
  return Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => {
    const actions = names.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `        [${actions.join(', ')}],`;
  });
}

/** Returns the mean score on the fresh seeds, without a belief. */
function meanScore(sequence: Uint8Array, grader: string): number {
  const numEnvs = FRESH_SEEDS.last - FRESH_SEEDS.first + 1;
  using env = createVecEnv({ numEnvs, grader });
  env.reset({ seed: FRESH_SEEDS.first });
  const { finalScores } = env.run(repeatActions(sequence, numEnvs));
  return finalScores.reduce((sum, score) => sum + score, 0) / numEnvs;
}
