/** Commands create the directories of their output files. */
import { existsSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';
import { episodeStarts, playerOf, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const EPISODES = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'wellbeing' }) });
writeFileSync(pathOf('t.jsonl'), EPISODES.map(episodeLine).join(''));
writeFileSync(pathOf('rows.jsonl'), '{"seed":5,"actions":["sleep"]}\n');

const SHORT = ['eval', '--seeds', '5-5', '--policies', 'heuristic'];
const SMALL = ['--evaluations', '1000', '--episodes', '12', '--profiles', '2', '--planner-episodes', '2'];

it.each([
  ['eval/json.json', [...SHORT, '--json']],
  ['components/rows.jsonl', [...SHORT, '--components']],
  ['trajectories/t.jsonl', [...SHORT, '--trajectories']],
  ['regrade/json.json', ['regrade', '--components', pathOf('components/rows.jsonl'), '--json']],
  ['replay/rows.jsonl', ['replay', '--input', pathOf('rows.jsonl'), '--output']],
  ['reeval/json.json', ['reeval', '--jsonl', pathOf('t.jsonl'), '--json']],
  ['teach/t.jsonl', ['teach', '--policy', 'heuristic+inference', '--seeds', '100-100', '--output']],
  ['audit/json.json', ['audit', ...SMALL, '--json']],
  ['grpo/train.jsonl', ['dataset', 'grpo', '--rows', '2', '--output']],
])('a command creates the directory of %s', async (name, args) => {
  const { code, stderr } = await runCli([...args, pathOf(name)]);
  expect([code, stderr.includes('error')]).toEqual([0, false]);
  expect(existsSync(pathOf(name))).toBe(true);
});

it('teach with a language model creates the directory of its output', async () => {
  const { environment } = await startModel();
  const args = ['teach', '--policy', 'llm:fake', '--seeds', '100-100', '--output', pathOf('llm/new/t.jsonl')];
  const { code } = await runCli(args, '', environment);
  expect([code, existsSync(pathOf('llm/new/t.jsonl'))]).toEqual([0, true]);
});

it('a command creates no directory if an option is refused', async () => {
  const { code } = await runCli([...SHORT, '--grader', 'v9', '--json', pathOf('none/x.json')]);
  expect([code, existsSync(pathOf('none'))]).toEqual([2, false]);
});
