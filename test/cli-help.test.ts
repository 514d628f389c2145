/** The examples that a command's help prints work as printed, one after the other, in an empty folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blindTape } from '../src/policies/tapes.js';
import { episodeLine } from '../src/trajectory/line.js';
import { ACTION_NAMES } from '../src/world/fields.js';
import { FakeHub } from './fakes/hub.js';
import { FakeOpenAi } from './fakes/openai.js';
import { MAIN, runCli, temporaryDirectory } from './support/cli.js';
import { episodesOf, playerOf, weeksOf } from './support/trajectories.js';

const file = temporaryDirectory();
const tsx = fileURLToPath(import.meta.resolve('tsx'));
/** The command as an installed package has it. */
const COMMAND = `rhythm-vec() { "${process.execPath}" --import "${tsx}" "${MAIN}" "$@"; }`;

const commands: [command: string, prints: string][] = [
  ['eval', 'grader calm; world'],
  ['replay', ''],
  ['regrade', 'stored episodes, none played; grader calm'],
  ['audit', 'Under grader calm, ignoring the person earns'],
  ['dataset', 'Usage: rhythm-vec dataset grpo'],
  ['dataset grpo', ''],
  ['dataset sft', ''],
  ['teach', 'episodes replayed, all as recorded'],
  ['reeval', 'episodes replayed, all as recorded'],
  ['upload', 'Nothing was changed: --dry-run.'],
  ['report', 'report/report.html: one page, and'],
  ['info', 'layout digest'],
];

/** What examples ask and upload to: both answer in this process, which must not wait for that of the examples. */
let model: FakeOpenAi;
let hub: FakeHub;
beforeAll(async () => {
  [model, hub] = await Promise.all([FakeOpenAi.open(), FakeHub.open()]);
});
afterAll(() => Promise.all([model.close(), hub.close()]));

/** What examples begin with, where commands take what others have written: weeks that score more than the heuristic's. */
const TEACHER = episodesOf(weeksOf([100, 101, 102]), {
  player: playerOf({ objective: 'wellbeing' }),
  play: ({ step, prompt }) => ({
    prompt,
    completion: `<reasoning>By heart.</reasoning>\n5 5 5 ${ACTION_NAMES[blindTape('v2')[step]].toUpperCase()}`,
  }),
});

it.each(commands)('%s', async (command, prints) => {
  const { stdout } = await runCli([...command.split(' '), '--help']);
  // As many seeds, and as short searches, as take little time.
  const examples = stdout
    .split(/Examples?:\n/)[1]
    .replace('0-9999999', '0-999')
    .replaceAll(/--seeds 100-1\d\d/g, '--seeds 100-102')
    .replaceAll('rhythm-vec audit', 'rhythm-vec audit --evaluations 1000 --episodes 20 --persons 2');
  expect(examples).toContain(`  rhythm-vec ${command}`);
  mkdirSync(file(command));
  writeFileSync(join(file(command), 'teacher.jsonl'), TEACHER.map(episodeLine).join(''));
  const script = `set -eo pipefail\n${COMMAND}\n${examples}`;
  const { stdout: printed } = await promisify(execFile)('bash', ['-c', script], {
    cwd: file(command),
    env: { ...process.env, ...model.environment, ...hub.environment },
    maxBuffer: 2 ** 26,
  });
  expect(printed.replaceAll('\n', ' ')).toContain(prints);
});
