/**
 * Plays the policies of the yardstick in the standard conditions under each built-in grader, and writes their final scores to
 * `src/evaluation/measured-episodes.ts`. Run it after `npm run audits`, which finds two of these policies. With --check it
 * fails if a score differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { evaluate } from '../src/evaluation/on-first-use.js';
import { STORED_CONDITIONS, YARDSTICK_POLICIES } from '../src/evaluation/stored-scores.js';
import { GRADER_NAMES } from '../src/world/fields.js';
import { createWorld } from '../src/world/world.js';

const PATH = new URL('../src/evaluation/measured-episodes.ts', import.meta.url);

/** Returns the final scores of a policy of the yardstick in the stored episodes, f32 little-endian, as base64. */
async function scoresOf(grader: string, policy: string): Promise<string> {
  const scores: number[] = [];
  await evaluate({
    ...{ grader, policies: [policy] },
    conditions: ['in-distribution', 'ood', 'discrete'],
    onEpisodes: ({ condition, result }) => {
      if (STORED_CONDITIONS.some(({ name }) => name === condition)) scores.push(...result.finalScores);
    },
  });
  const bytes = Buffer.alloc(scores.length * 4);
  scores.forEach((score, i) => {
    bytes.writeFloatLE(score, i * 4);
  });
  return bytes.toString('base64');
}

const lines: string[] = [];
for (const grader of GRADER_NAMES) {
  lines.push(`    ${grader}: {`);
  for (const policy of YARDSTICK_POLICIES) {
    lines.push(`      '${policy}':`, `        '${await scoresOf(grader, policy)}',`);
  }
  lines.push('    },');
}
const text = `/** Final scores of the yardstick's policies. Made by \`npm run yardsticks\`; do not edit. */

export const MEASURED_EPISODES = {
  /** Digest of the world. */
  worldDigest: '${createWorld().digest}',
  /** By grader and policy: f32 little-endian as base64, in the order of STORED_CONDITIONS (yardstick.ts). */
  scores: {
${lines.join('\n')}
  },
};
`;
if (!process.argv.includes('--check')) writeFileSync(PATH, text);
else if (readFileSync(PATH, 'utf8') !== text) {
  console.error('src/evaluation/measured-episodes.ts differs from the scores: run npm run yardsticks.');
  process.exitCode = 1;
}
