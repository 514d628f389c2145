/** `dataset dpo`: pairs by split and their card, replaced datasets, and refused episodes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, expect, it } from 'vitest';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';
import { listedIn, optionsOf } from '../support/page-tables.js';
import { changedAt, episodeStarts, playerOf, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const dpo = (...args: string[]) => runCli(['dataset', 'dpo', ...args]);
const read = (...path: string[]): string => readFileSync(pathOf(join(...path)), 'utf8');
/** Seeds 95 to 124. The first five are evaluation seeds, whose episodes are left out. */
const seeds = Array.from({ length: 30 }, (_, i) => 95 + i);

/** Two samples of one model: one follows the heuristic, the other takes the same action at every step. */
const samples = [
  recordEpisodes(episodeStarts(seeds), { player: playerOf({ model: 'm' }) }),
  recordEpisodes(episodeStarts(seeds), {
    player: playerOf({ model: 'm' }),
    policy: ({ prompt }) => ({ prompt, completion: `5 5 5 ${ACTION_NAMES[9].toUpperCase()}` }),
  }),
];
const input = pathOf('samples.jsonl');

beforeAll(async () => {
  writeFileSync(input, samples.flat().map(episodeLine).join(''));
  const { code, stdout, stderr } = await dpo('--jsonl', input, '--output', pathOf('first'));
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(
    /^\d+ training pairs and \d+ validation pairs in .*first, with their card\. 50 episodes compared, 10 left out\.\n$/,
  );
});

it('dataset dpo writes the training rows, the validation rows and their card', () => {
  expect(readdirSync(pathOf('first')).sort()).toEqual(['README.md', 'train.jsonl', 'validation.jsonl']);
  const rows = [...fromLines(read('first', 'train.jsonl')), ...fromLines(read('first', 'validation.jsonl'))];
  expect(new Set(rows.map(({ seed }) => seed))).toEqual(new Set(seeds.slice(5)));
  for (const { prompt, chosen, rejected } of rows) {
    expect(prompt.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
    expect([chosen, rejected].flat().map(({ role }) => role)).toEqual(['assistant', 'assistant']);
  }
  const card = read('first', 'README.md');
  expect(card).toContain(
    '{"split":"train","path":"train.jsonl"},{"split":"validation","path":"validation.jsonl"}',
  );
  expect(card).toContain('neglect of the first half counts as better');
  expect(card).not.toContain(pathOf(''));
});

it('docs/trajectories.md lists exactly the options and columns of dataset dpo', async () => {
  const { stdout } = await dpo('--help');
  const columns = Object.keys(fromLines(read('first', 'train.jsonl'))[0]).sort();
  expect(listedIn('docs/trajectories.md', 'Rows for DPO')).toEqual({ options: optionsOf(stdout), columns });
});

it('the command in the card reproduces the same bytes on the reference backend', async () => {
  const [, command] = /```sh\nrhythm-vec (.*)\n```/.exec(read('first', 'README.md'))!;
  mkdirSync(pathOf('again'));
  const paths: Record<string, string> = { 'samples.jsonl': input, first: pathOf('again/first') };
  const args = command.split(' ').map((word) => paths[word] ?? word);
  expect((await runCli([...args, '--backend', 'reference'])).code).toBe(0);
  for (const name of ['train.jsonl', 'validation.jsonl', 'README.md']) {
    expect(read('again', 'first', name)).toBe(read('first', name));
  }
});

it('dataset dpo writes Parquet with all filters', async () => {
  const { code } = await dpo(
    ...['--jsonl', input, '--output', pathOf('parquet'), '--format', 'parquet', '--by', 'return'],
    ...['--min-margin', '0.01', '--all-pairs', '--teacher', 'test', '--model', 'm', '--conditions', 'custom'],
    ...['--seeds', '90-110', '--allow-eval-seeds', '--allow-oracle', '--steps', '0-5', '--grader', 'v3'],
    ...['--validation', '0', '--split-seed', '3', '--threads', '1'],
  );
  expect(code).toBe(0);
  expect(readdirSync(pathOf('parquet')).sort()).toEqual(['README.md', 'train.parquet']);
  const file = new Uint8Array(readFileSync(pathOf('parquet/train.parquet'))).buffer;
  const [row] = await parquetReadObjects({ file });
  expect(row.chosen).toEqual([{ role: 'assistant', content: expect.any(String) }]);
  expect(Number(row.chosen_value) - Number(row.rejected_value)).toBeGreaterThanOrEqual(0.01);
  const card = read('parquet', 'README.md');
  expect(card).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
  expect(card).toContain('--by return --min-margin 0.01 --all-pairs --teacher test');
});

it('dataset dpo replaces a dataset for DPO, and `dataset sft` refuses to replace it', async () => {
  expect((await dpo('--jsonl', input, '--output', pathOf('first'))).code).toBe(0);
  const sft = ['dataset', 'sft', '--jsonl', input, '--objective', 'none', '--output'];
  const refused = await runCli([...sft, pathOf('first')]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('not the card of a dataset for SFT'),
  ]);
});

it('dataset dpo reports episodes that differ from their replay, and refuses episodes without pairs', async () => {
  const changed = changedAt(samples[1][10], 'steps.3.reward', (reward: number) => reward + 1);
  writeFileSync(
    pathOf('changed.jsonl'),
    [samples[0][10], samples[1][11], samples[0][11], changed].map(episodeLine).join(''),
  );
  const { code, stderr } = await dpo(
    '--jsonl',
    pathOf('changed.jsonl'),
    '--output',
    pathOf('changed'),
    '--validation',
    '0',
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/changed\.jsonl:4: left out, not as recorded: .*1 NOT AS RECORDED/s);
  writeFileSync(pathOf('one.jsonl'), episodeLine(samples[0][10]));
  const none = await dpo('--jsonl', pathOf('one.jsonl'), '--output', pathOf('none'));
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringContaining('Expected pairs to train on, got none from 1 episode'),
  ]);
  expect(readdirSync(pathOf(''))).not.toContain('none');
});
