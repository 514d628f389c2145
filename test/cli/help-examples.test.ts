/** Runs the examples in the help of commands as they are printed, but with smaller numbers. Each command has its own folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLoopActions } from '../../src/agents/policies/open-loop.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { FakeHub } from '../fakes/hub.js';
import { FakeOpenAi } from '../fakes/openai.js';
import { MAIN, runCli, temporaryDirectory } from '../support/cli.js';
import { episodeStarts, playerOf, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
/** The command as an installed package provides it. */
const COMMAND = `rhythm-vec() { "${process.execPath}" "${MAIN}" "$@"; }`;

const commands: [command: string, expected: string][] = [
  ['eval', 'grader calm; world'],
  ['replay', ''],
  ['regrade', 'stored episodes, not played again; grader calm'],
  ['audit', 'Under grader calm, a policy that ignores the profile gains'],
  ['dataset', 'Usage: rhythm-vec dataset grpo'],
  ['dataset grpo', ''],
  ['dataset sft', ''],
  ['dataset dpo', ''],
  ['teach', 'episodes replayed, all as recorded'],
  ['train', 'ood: seeds 10000-10002, 3 episodes'],
  ['reeval', 'episodes replayed, all as recorded'],
  ['upload', 'Nothing was changed: --dry-run.'],
  ['report', 'report/report.html: one page, and'],
  ['world', ''],
  ['info', 'layout digest'],
];

/** A fake endpoint and a fake Hub. Both run in this process, so it must not block while an example runs. */
let model: FakeOpenAi;
let hub: FakeHub;
beforeAll(async () => {
  [model, hub] = await Promise.all([FakeOpenAi.open(), FakeHub.open()]);
});
afterAll(() => Promise.all([model.close(), hub.close()]));

/** The episodes of the examples' input file. They score higher than the heuristic's. */
const TEACHER = recordEpisodes(episodeStarts([100, 101, 102]), {
  player: playerOf({ objective: 'wellbeing' }),
  policy: ({ step, prompt }) => ({
    prompt,
    completion: `<reasoning>By heart.</reasoning>\n5 5 5 ${ACTION_NAMES[openLoopActions('v2')[step]].toUpperCase()}`,
  }),
});

const runFile = promisify(execFile);

/**
 * Runs the lines of a script in a folder. A command that is alone on its line runs in this process, since a new process takes
 * 0.3 s to load it. Bash runs the other lines. @returns what the lines print to the standard output.
 */
async function outputOf(script: string, cwd: string): Promise<string> {
  const environment = { ...model.environment, ...hub.environment };
  const env = { ...process.env, ...environment };
  const bash = async (line: string) =>
    (await runFile('bash', ['-c', `set -eo pipefail\n${COMMAND}\n${line}`], { cwd, env })).stdout;
  const before = process.cwd();
  process.chdir(cwd);
  let output = '';
  try {
    const lines = script.replaceAll('\\\n', '').split('\n');
    for (const line of lines.filter((each) => each.trim() !== '')) {
      const [, words] = /^ *rhythm-vec ([^|<>;&#]*)$/.exec(line) ?? [];
      if (words === undefined) {
        output += await bash(line);
        continue;
      }
      // Bash splits the line into words, because it also removes the quotes.
      const args = (await bash(`printf '%s\\0' ${words}`)).split('\0').slice(0, -1);
      const { code, stdout, stderr } = await runCli(args, '', environment);
      expect(code, `${line}\n${stderr}`).toBe(0);
      output += stdout;
    }
  } finally {
    process.chdir(before);
  }
  return output;
}

const QUICK_AUDIT = '--evaluations 1000 --episodes 8 --profiles 2 --planner-episodes 2';

it.each(commands)('the examples of %s run', async (command, expected) => {
  const { stdout } = await runCli([...command.split(' '), '--help']);
  // Uses fewer seeds and shorter searches, to save time.
  const examples = stdout
    .split(/Examples?:\n/)[1]
    .replace('0-9999999', '0-99')
    .replace('--seeds 0-999 ', '--seeds 0-99 ')
    .replaceAll(/rhythm-vec eval(?! --seeds)/g, '$& --episodes 3')
    .replaceAll(/--seeds 100-1\d\d/g, '--seeds 100-101')
    .replaceAll('--rows 3000', '--rows 300')
    .replace('--seeds 100-101 --policies', '--seeds 100-100 --policies')
    .replace('--episodes 2 --policies llm', '--episodes 1 --policies llm')
    .replace('train --episodes', 'train --teacher open-loop+inference --episodes')
    .replace('--round-episodes 10 --epochs 5', '--round-episodes 1 --epochs 1')
    .replace('--refine-episodes 64 --refine-batch 32', '--refine-episodes 2 --refine-batch 2')
    .replaceAll('--concurrency 16', '--concurrency 16 --episodes 2')
    .replaceAll('rhythm-vec audit', `rhythm-vec audit ${QUICK_AUDIT}`);
  expect(examples).toContain(`  rhythm-vec ${command}`);
  mkdirSync(pathOf(command));
  writeFileSync(join(pathOf(command), 'teacher.jsonl'), TEACHER.map(episodeLine).join(''));
  const output = await outputOf(examples, pathOf(command));
  expect(output.replaceAll('\n', ' ')).toContain(expected);
});
