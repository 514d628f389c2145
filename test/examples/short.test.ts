/** Runs the short examples and compares their output. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { evaluate } from 'rhythm-vec';
import { afterAll, expect, it } from 'vitest';
import { consoleBlocks } from '../support/console-blocks.js';

const at = (path: string): string => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));
const files = readdirSync(at('')).filter((name) => /\.[jt]s$/.test(name));

const loaderOf = (name: string): string[] =>
  name.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];

/** The folder in which examples run, for the files that they write. */
const folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The generations that train.ts plays here. test/evaluation/tutorial.test.ts plays all. */
const GENERATIONS = 10;

/** Runs an example and returns its output. Only TypeScript needs tsx, which takes half a second to load. */
const outputOf = (name: string): string =>
  execFileSync(
    process.execPath,
    [...loaderOf(name), at(name), ...(name === 'train.ts' ? [`${GENERATIONS}`] : [])],
    {
      encoding: 'utf8',
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 100_000,
    },
  );

/** The score that lookahead-policy.js prints and docs/guides/policies.md states. */
const LOOKAHEAD_SCORE = '0.673';

const [TUTORIAL_CURVE] = consoleBlocks('docs/tutorial.md');

const EXPECTED: Readonly<Record<string, RegExp>> = {
  'evaluation.ts': /^grader v2\n.* heuristic {11}0\.447 ±0\.009 {2}MAE 0\.205\n.*\ngrader calm\n/s,
  'lookahead-policy.js': new RegExp(
    `^final score ${LOOKAHEAD_SCORE.replace('.', '\\.')}, belief MAE 0\\.\\d{3}\n$`,
  ),
  'planner.ts': /^[A-Z_]+ .*Belief: social .*\nfinal score 0\.779\nbelief MAE {2}0\.068\n$/,
  'recurrent-policy.js': /^final score 0\.6\d{2}, belief MAE 0\.[01]\d{2}\n$/,
  'replay-scoring.ts':
    /^3 6 5 EXERCISE {8}-0\.49 {3}1\.29 {3}0\.72\n.*\nI would rather not\. {3}-3\.00 {2}-6\.50 {2}-1\.34\n$/s,
  'student.ts':
    /^open-loop\+inference +0\.7\d\d .*\nclone +0\.7\d\d .*\nrefined +0\.7\d\d ±0\.\d{3} {2}MAE 0\.\d{3}\n$/,
  'train.ts': new RegExp(`^${TUTORIAL_CURVE.split('\n').slice(0, 2).join('\n')}\n$`),
  'worker.js': /^2000 episodes, mean final score 0\.4511\n$/,
};

it.each(files)('%s prints its result', (name) => {
  expect(outputOf(name)).toMatch(EXPECTED[name]);
});

it('lookahead-policy.js has the score that its guide states, and is no oracle', async () => {
  const { default: mine } = await import(at('lookahead-policy.js'));
  const { rows } = await evaluate({ policies: { mine }, conditions: ['in-distribution'], episodes: 2 });
  expect(rows[0]).toMatchObject({ oracle: false, episodes: 2 });
  const guide = readFileSync(at('../docs/guides/policies.md'), 'utf8').replace(/\s+/g, ' ');
  expect(guide).toContain(`On seeds 0-99 its final score is ${LOOKAHEAD_SCORE} `);
});

it.each(files)('%s is short, and named in the tutorial', (name) => {
  expect(readFileSync(at(name), 'utf8').split('\n').length).toBeLessThan(name === 'train.ts' ? 130 : 80);
  expect(readFileSync(at('../docs/tutorial.md'), 'utf8')).toContain(`\`examples/${name}\``);
});
