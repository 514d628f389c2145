/** Finds the blind tapes and writes them as data, or with --check fails when they are not what is found. */
import { readFileSync, writeFileSync } from 'node:fs';
import { FRESH_FIRST, TRAINING_STARTS, trainingSeeds } from '../src/audit/seeds.js';
import { BLIND_TAPES } from '../src/policies/blind-tapes.js';
import { repeatTape } from '../src/policies/tapes.js';
import { TRAINING_SEEDS } from '../src/search/seeds.js';
import { searchTape } from '../src/search/tapes.js';
import { createVecEnv } from '../src/vec-env.js';
import { packageVersion } from '../src/version.js';
import { ACTION_NAMES, GRADER_NAMES, NUM_SLOTS, NUM_STEPS } from '../src/world/fields.js';
import { createWorld } from '../src/world/world.js';

const PATH = 'src/policies/blind-tapes.ts';
const FRESH_SEEDS = { first: FRESH_FIRST, last: FRESH_FIRST + 9999 };
const SEED = 0;

const check = process.argv.includes('--check');
const url = new URL(`../${PATH}`, import.meta.url);
const text = await emit();
if (!check) {
  writeFileSync(url, text);
} else if (readFileSync(url, 'utf8') !== text) {
  console.error(`${PATH} is not what is found: run npm run tapes, and say in the commit what has changed.`);
  process.exitCode = 1;
}

/** The whole module, as Biome formats it. */
async function emit(): Promise<string> {
  const searches = [];
  for (const grader of GRADER_NAMES) searches.push(await search(grader));
  const { first, last } = TRAINING_SEEDS;
  return `/** The best tapes for everybody that were found: made by \`npm run tapes\`. Do not edit. */

export const BLIND_TAPES = {
  /** Of the package that made them, and of the world that they were made in. */
  version: '${check ? BLIND_TAPES.version : packageVersion()}',
  worldDigest: '${createWorld().digest}',
  /** So many, evenly from the first to the last. */
  trainingSeeds: { count: ${TRAINING_STARTS}, first: ${first}, last: ${last} },
  /** All of them. */
  freshSeeds: { first: ${FRESH_SEEDS.first}, last: ${FRESH_SEEDS.last} },
  /** The search's own. */
  seed: ${SEED},
  /** By grader. Scores are means to five decimals, without a belief. */
  tapes: {
${searches.join('\n')}
  },
} as const;
`;
}

async function search(grader: string): Promise<string> {
  const { tape, score, evaluations } = await searchTape({ seeds: trainingSeeds() }, { grader, seed: SEED });
  return `    ${grader}: {
      days: [
${rowsOf(tape).join('\n')}
      ],
      evaluations: ${evaluations},
      trainingScore: ${rounded(score)},
      freshScore: ${rounded(meanScore(tape, grader))},
    },`;
}

function rounded(score: number): number {
  return Number(score.toFixed(5));
}

/** A line a day. */
function rowsOf(tape: Uint8Array): string[] {
  const names = Array.from(tape, (action) => `'${ACTION_NAMES[action]}'`);
  return Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => {
    const today = names.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS);
    return `        [${today.join(', ')}],`;
  });
}

/** On the fresh seeds, without a belief. */
function meanScore(tape: Uint8Array, grader: string): number {
  const numEnvs = FRESH_SEEDS.last - FRESH_SEEDS.first + 1;
  using env = createVecEnv({ numEnvs, grader });
  env.reset({ seed: FRESH_SEEDS.first });
  const { finalScores } = env.run(repeatTape(tape, numEnvs));
  return finalScores.reduce((sum, score) => sum + score, 0) / numEnvs;
}
