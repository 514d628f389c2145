/** `dataset grpo`: rows and their card, written completely or not at all, and arguments that are refused before any work. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemText } from '../../src/rollouts/text/system-message.js';
import { toPlan } from '../../src/training/datasets/grpo/grpo-options.js';
import { grpoRows } from '../../src/training/datasets/grpo/grpo-rows.js';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { listedIn, optionsOf } from '../support/page-tables.js';

const pathOf = temporaryDirectory();
const folder = (name: string): string => {
  mkdirSync(pathOf(name));
  return pathOf(name);
};
const grpo = (...args: string[]) => runCli(['dataset', 'grpo', ...args]);
const read = (...path: string[]): string => readFileSync(pathOf(join(...path)), 'utf8');

beforeAll(async () => {
  const output = join(folder('first'), 'train.jsonl');
  const { code, stdout, stderr } = await grpo('--rows', '70', '--output', output);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toBe(`70 rows written to ${output}, the card to ${pathOf('first/README.md')}.\n`);
});

it('dataset grpo writes the rows of its options, and the card beside them', () => {
  expect(fromLines(read('first', 'train.jsonl'))).toEqual([...grpoRows(toPlan({ rows: 70 }), {})].flat());
  expect(readdirSync(pathOf('first')).sort()).toEqual(['README.md', 'train.jsonl']);
  expect(read('first', 'README.md')).toContain('data_files":"train.jsonl"');
});

it('docs/guides/training-data.md lists exactly the options and columns of dataset grpo', async () => {
  const { stdout } = await grpo('--help');
  const columns = Object.keys(fromLines(read('first', 'train.jsonl'))[0]).sort();
  expect(listedIn('docs/guides/training-data.md', 'dataset grpo')).toEqual({
    options: optionsOf(stdout),
    columns,
  });
});

it('the command in the card reproduces the same bytes on the reference backend', async () => {
  const [, command] = /```sh\nrhythm-vec (.*)\n```/.exec(read('first', 'README.md'))!;
  const args = command.replace('train.jsonl', join(folder('again'), 'train.jsonl')).split(' ');
  expect((await runCli([...args, '--backend', 'reference'])).code).toBe(0);
  for (const name of ['train.jsonl', 'README.md']) expect(read('again', name)).toBe(read('first', name));
});

it('dataset grpo writes Parquet and its card with options of seeds, profiles and steps', async () => {
  const output = join(folder('parquet'), 'train.parquet');
  const { code } = await grpo(
    ...['--rows', '40', '--output', output, '--seeds', '90-300', '--allow-eval-seeds', '--seed', '5'],
    ...['--profiles', 'mix,introvert_morning', '--steps', '9-12'],
  );
  expect(code).toBe(0);
  const bytes = new Uint8Array(readFileSync(output)).buffer;
  const rows = await parquetReadObjects({ file: bytes });
  const plan = toPlan({
    rows: 40,
    seeds: { first: 90, last: 300 },
    allowEvalSeeds: true,
    seed: 5,
    profiles: ['sampled', 'discrete', 'introvert_morning'],
    steps: { first: 9, last: 12 },
  });
  const expected = [...grpoRows(plan, {})].flat();
  expect(rows.map((row) => ({ ...row, seed: Number(row.seed), step_index: Number(row.step_index) }))).toEqual(
    expected,
  );
  const card = read('parquet', 'README.md');
  expect(card).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
  expect(card).toContain('--seed 5 --grader v2 --format parquet --allow-eval-seeds --output train.parquet\n');
});

it('dataset grpo replaces an existing dataset', async () => {
  const output = join(folder('twice'), 'train.jsonl');
  await grpo('--rows', '30', '--output', output);
  expect((await grpo('--rows', '20', '--output', output)).code).toBe(0);
  expect(fromLines(readFileSync(output, 'utf8'))).toHaveLength(20);
  expect(read('twice', 'README.md')).toContain('rows: 20\n');
});

it('dataset grpo refuses to replace the card of another existing dataset, also through a link', async () => {
  const two = folder('two');
  const [first, second] = [join(two, 'a b.jsonl'), join(two, 'test.jsonl')];
  await grpo('--rows', '3', '--output', first);
  const card = read('two', 'README.md');
  const { code, stderr } = await grpo('--rows', '4', '--output', second);
  expect([code, existsSync(second)]).toEqual([2, false]);
  expect(stderr).toContain('got another file. Write --output to a directory of its own.');
  expect(read('two', 'README.md')).toBe(card);
  // The header as another tool may write it: the names of the files cannot be read from it.
  writeFileSync(join(two, 'README.md'), card.replace(/^configs: .*$/m, 'configs:\n- config_name: default'));
  expect((await grpo('--rows', '4', '--output', second)).code).toBe(2);
  writeFileSync(join(two, 'README.md'), card);
  rmSync(first);
  expect((await grpo('--rows', '4', '--output', second)).code).toBe(0);
  symlinkSync('README.md', join(two, 'link.jsonl'));
  const linked = await grpo('--rows', '4', '--output', join(two, 'link.jsonl'));
  expect([linked.code, linked.stderr]).toEqual([2, expect.stringContaining('its card README.md, got')]);
});

it('dataset grpo refuses to replace the card of a dataset of dataset sft', async () => {
  const [episodes, directory] = [pathOf('taught.jsonl'), folder('sft')];
  await runCli(['teach', '--policy', 'heuristic+inference', '--seeds', '100-102', '--output', episodes]);
  const sft = ['dataset', 'sft', '--jsonl', episodes, '--objective', 'none', '--output', directory];
  expect((await runCli(sft)).code).toBe(0);
  const card = read('sft', 'README.md');
  const rows = join(directory, 'grpo.jsonl');
  expect((await grpo('--rows', '3', '--output', rows)).code).toBe(2);
  expect([read('sft', 'README.md'), existsSync(rows)]).toEqual([card, false]);
});

describe('dataset grpo refuses, and changes nothing:', () => {
  beforeAll(() => {
    writeFileSync(join(folder('project'), 'README.md'), '# A project\n');
  });
  const tenRows = ['--rows', '10'];
  it.each<[string, readonly string[], string]>([
    [
      'evaluation seeds',
      [...tenRows, '--seeds', '0-99', '--output', pathOf('x.jsonl')],
      'where 0-99 are kept for evaluation',
    ],
    ['a missing --rows', ['--output', pathOf('x.jsonl')], "required option '--rows <n>'"],
    ['a missing --output', tenRows, "required option '--output <file>'"],
    [
      'an unknown ending',
      [...tenRows, '--output', pathOf('x.csv')],
      'Expected --output to end with .jsonl or .parquet',
    ],
    [
      'an ending of another format',
      [...tenRows, '--format', 'jsonl', '--output', pathOf('x.parquet')],
      'to end with .jsonl, as --format says',
    ],
    [
      'an unknown format',
      [...tenRows, '--format', 'csv', '--output', pathOf('x.csv')],
      'Allowed choices are jsonl, parquet',
    ],
    [
      'the standard output',
      [...tenRows, '--format', 'jsonl', '--output', '-'],
      'other than its card README.md, got -',
    ],
    [
      'README.md as the file of rows',
      [...tenRows, '--format', 'jsonl', '--output', pathOf('README.md')],
      'its card README.md, got',
    ],
    [
      'the README.md of another project',
      [...tenRows, '--output', pathOf('project/x.jsonl')],
      'Write --output to a directory of its own.',
    ],
    [
      'an output inside a file',
      [...tenRows, '--output', '/dev/null/x.jsonl'],
      '/dev/null is not a directory',
    ],
    ['an unknown profile', [...tenRows, '--profiles', 'me', '--output', pathOf('x.jsonl')], 'got "me"'],
    [
      'steps that are not a range',
      [...tenRows, '--steps', 'all', '--output', pathOf('x.jsonl')],
      'such as 8-27',
    ],
    ['a step above 27', [...tenRows, '--steps', '3-28', '--output', pathOf('x.jsonl')], 'the last of steps'],
    ['an unknown kernel', [...tenRows, '--kernel', 'abacus', '--output', pathOf('x.jsonl')], 'abacus'],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await grpo(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/See rhythm-vec dataset grpo --help\.|Add --help for a list\./);
    expect(existsSync(pathOf('x.jsonl'))).toBe(false);
    expect(read('project', 'README.md')).toBe('# A project\n');
    expect(readdirSync(pathOf('project'))).toEqual(['README.md']);
  });
});

it('dataset grpo keeps existing files when it is interrupted', async () => {
  const output = join(folder('interrupted'), 'train.jsonl');
  await grpo('--rows', '5', '--output', output);
  const before = readFileSync(output, 'utf8');
  const changes = watch(pathOf('interrupted'));
  const { child, finished } = startCli(['dataset', 'grpo', '--rows', '100000000', '--output', output]);
  for await (const { filename } of changes) if (filename?.endsWith('.tmp')) break;
  child.kill('SIGINT');
  const { code, stderr } = await finished;
  expect(code).toBe(130);
  expect(stderr).toContain('Interrupted. No output file was changed.');
  expect(readFileSync(output, 'utf8')).toBe(before);
  expect(readdirSync(pathOf('interrupted')).sort()).toEqual(['README.md', 'train.jsonl']);
});

it('dataset grpo --grader changes the prompts and the card, but not the states', async () => {
  for (const name of ['v3', 'own']) folder(name);
  const options = ['--rows', '20', '--steps', '3-27'];
  const own = { name: 'own', weights: { wellbeing: 0.5, belief_skill: 0.5 } };
  writeFileSync(pathOf('own.json'), JSON.stringify(own));
  const graders: [name: string, grader: string][] = [
    ['v3', 'v3'],
    ['own', pathOf('own.json')],
  ];
  const system = systemText(own);
  for (const [name, grader] of graders) {
    expect((await grpo(...options, '--grader', grader, '--output', pathOf(`${name}/train.jsonl`))).code).toBe(
      0,
    );
  }
  const [v3, mine] = graders.map(([name]) => fromLines(read(name, 'train.jsonl')));
  expect(v3[0].prompt[0].content).toBe(systemText('v3'));
  expect(mine[0].prompt[0].content).toBe(system);
  const states = (rows: typeof v3) => rows.map(({ prompt: [, user], ...rest }) => ({ user, ...rest }));
  expect(states(mine)).toEqual(states(v3));
  expect(read('v3', 'README.md')).toContain('Client("http://127.0.0.1:8000"), grader="v3")');
  expect(read('v3', 'README.md')).toContain('--grader v3 --format jsonl');
  expect(read('own', 'README.md')).toContain('grader={"name":"own","weights":{"crash_free":0,');
  expect(read('own', 'README.md')).toContain('--grader own.json');
});
