/** Runs the examples in the help of commands as they are printed, but with smaller numbers. Each command has its own folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLoopActions } from '../../src/agents/policies/open-loop.js';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
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
  ['audit', 'Under grader calm, ignoring the profile gains'],
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

const QUICK_AUDIT = '--evaluations 1000 --episodes 20 --profiles 2 --planner-episodes 2';

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
    .replace('--episodes 20 --rounds 1 --round-episodes 10', '--episodes 20 --rounds 1 --round-episodes 1')
    .replace('--refine-episodes 64 --refine-batch 32', '--refine-episodes 8 --refine-batch 4')
    .replaceAll('--concurrency 16', '--concurrency 16 --episodes 2')
    .replaceAll('rhythm-vec audit', `rhythm-vec audit ${QUICK_AUDIT}`);
  expect(examples).toContain(`  rhythm-vec ${command}`);
  mkdirSync(pathOf(command));
  writeFileSync(join(pathOf(command), 'teacher.jsonl'), TEACHER.map(episodeLine).join(''));
  const script = `set -eo pipefail\n${COMMAND}\n${examples}`;
  const { stdout: output } = await promisify(execFile)('bash', ['-c', script], {
    cwd: pathOf(command),
    env: { ...process.env, ...model.environment, ...hub.environment },
    maxBuffer: 2 ** 26,
  });
  expect(output.replaceAll('\n', ' ')).toContain(expected);
});
