/** `dataset sft`: rows by split and their card, written together or not at all, and refused arguments. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemText } from '../../src/rollouts/text/system-message.js';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { FORMER_FILES } from '../support/former-files.js';
import { listedIn, optionsOf } from '../support/page-tables.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const sft = (...args: string[]) => runCli(['dataset', 'sft', ...args]);
const read = (...path: string[]): string => readFileSync(pathOf(join(...path)), 'utf8');
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Five episodes of evaluation seeds, which the dataset leaves out, and 20 others. */
const plannerEpisodes = recordEpisodes(episodeStarts(range(95, 119)), {
  player: playerOf({ objective: 'wellbeing' }),
});
/** Three episodes without an objective, which the dataset leaves out too. */
const llmEpisodes = recordEpisodes(episodeStarts(range(100, 102)), {
  policy: TEST_POLICIES.incompleteText,
  player: playerOf({ model: 'm' }),
});
const input = pathOf('teacher.jsonl');

beforeAll(async () => {
  writeFileSync(input, [...plannerEpisodes, ...llmEpisodes].map(episodeLine).join(''));
  const { code, stdout, stderr } = await sft('--jsonl', input, '--output', pathOf('first'));
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(
    /^\d+ training rows and \d+ validation rows in .*first, with their card\. 20 episodes used, 8 left out\.\n$/,
  );
});

it('dataset sft writes the training rows, the validation rows and their card', () => {
  expect(readdirSync(pathOf('first')).sort()).toEqual(['README.md', 'train.jsonl', 'validation.jsonl']);
  const rows = [...fromLines(read('first', 'train.jsonl')), ...fromLines(read('first', 'validation.jsonl'))];
  expect(rows).toHaveLength(20 * 28);
  expect(new Set(rows.map(({ objective }) => objective))).toEqual(new Set(['wellbeing']));
  const card = read('first', 'README.md');
  expect(card).toContain(
    '{"split":"train","path":"train.jsonl"},{"split":"validation","path":"validation.jsonl"}',
  );
  // The card names files without the directory of this test.
  expect(card).not.toContain(pathOf(''));
});

it('docs/trajectories.md lists exactly the options and columns of dataset sft', async () => {
  const { stdout } = await sft('--help');
  const columns = Object.keys(fromLines(read('first', 'train.jsonl'))[0]).sort();
  expect(listedIn('docs/trajectories.md', 'Rows for SFT')).toEqual({ options: optionsOf(stdout), columns });
});

it('the command in the card reproduces the same bytes on the reference backend', async () => {
  const [, command] = /```sh\nrhythm-vec (.*)\n```/.exec(read('first', 'README.md'))!;
  mkdirSync(pathOf('again'));
  const args = command
    .split(' ')
    .map((word) => (word === 'teacher.jsonl' ? input : word === 'first' ? pathOf('again/first') : word));
  expect((await runCli([...args, '--backend', 'reference'])).code).toBe(0);
  for (const name of ['train.jsonl', 'validation.jsonl', 'README.md']) {
    expect(read('again', 'first', name)).toBe(read('first', name));
  }
});

it('dataset sft writes Parquet with filters, from the standard input and a file', async () => {
  const { code, stderr } = await runCli(
    [
      ...['dataset', 'sft', '--jsonl', '-', input, '--output', pathOf('parquet'), '--format', 'parquet'],
      ...['--objective', 'none', '--teacher', 'test', '--model', 'm', '--conditions', 'custom'],
      ...['--seeds', '90-200', '--allow-eval-seeds', '--allow-oracle', '--steps', '0-20', '--grader', 'v1'],
      ...['--min-score', '0.1', '--min-margin', '-0.9', '--max-belief-error', '.9'],
      ...['--validation', '0', '--split-seed', '3', '--threads', '1'],
    ],
    recordEpisodes(episodeStarts([90]), {
      policy: TEST_POLICIES.incompleteText,
      player: playerOf({ model: 'm', oracle: true }),
    })
      .map(episodeLine)
      .join(''),
  );
  expect([code, stderr]).toEqual([0, expect.stringContaining('4 episodes used')]);
  expect(readdirSync(pathOf('parquet')).sort()).toEqual(['README.md', 'train.parquet']);
  const rows = await parquetReadObjects({
    file: new Uint8Array(readFileSync(pathOf('parquet/train.parquet'))).buffer,
  });
  expect(new Set(rows.map(({ seed }) => Number(seed)))).toEqual(new Set([90, 100, 101, 102]));
  expect(Math.max(...rows.map(({ step_index }) => Number(step_index)))).toBe(20);
  const card = read('parquet', 'README.md');
  expect(card).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
  expect(card).toContain(' --min-score 0.1 --min-margin -0.9 --max-belief-error 0.9 ');
  expect(card).toContain(' --validation 0 --split-seed 3 ');
});

describe('with graders,', () => {
  const answers = (grader: string, seeds: readonly number[]): string =>
    recordEpisodes(episodeStarts(seeds), { policy: TEST_POLICIES.completeText, grader })
      .map(episodeLine)
      .join('');
  const run = (lines: string, name: string, ...args: string[]) =>
    runCli(
      ['dataset', 'sft', '--jsonl', '-', '--objective', 'none', '--output', pathOf(name), ...args],
      lines,
    );

  it('the prompts describe the grader of their episode, and the card has the components that --grader weighs', async () => {
    const { code } = await run(answers('v3', [100, 101]), 'v3', '--grader', 'v3', '--validation', '0');
    expect(code).toBe(0);
    const [row] = fromLines(read('v3', 'train.jsonl'));
    expect(row.messages[0].content).toBe(systemText('v3'));
    const card = read('v3', 'README.md');
    expect(card).toContain('The prompts describe the grader of their episode: v3 (2 episodes).\n');
    expect(card).toContain('| second-half mean | wellbeing | belief skill |');
    expect(card).not.toContain('PROMPTS DESCRIBE ANOTHER');
  });

  it('the card names all graders of the prompts, and warns if one is not the grader of the scores', async () => {
    const text = answers('v3', [100]) + answers('v2', [101, 102]);
    expect((await run(text, 'differ', '--validation', '0')).code).toBe(0);
    const card = read('differ', 'README.md');
    expect(card).toContain('of their episode: v3 (1 episode) and v2 (2 episodes).\n');
    expect(card).toContain('**SCORES AND MARGINS ARE UNDER v2, BUT PROMPTS DESCRIBE ANOTHER GRADER.**');
  });

  it('--min-score selects by the score under --grader', async () => {
    const text = answers('v3', [100, 101, 102, 103]);
    const countsOf = async (grader: string, least: string) => {
      const name = `least-${grader}`;
      const { stderr } = await run(text, name, '--grader', grader, '--min-score', least, '--validation', '0');
      return [/(\d) episodes? used/.exec(stderr)?.[1], /a lower score \((\d)\)/.exec(stderr)?.[1]];
    };
    // Under v2 the heuristic with a constant belief scores about 0.6, under v3 at most 0.5.
    expect(await countsOf('v2', '0.54')).toEqual(['4', undefined]);
    expect(await countsOf('v3', '0.54')).toEqual([undefined, '4']);
  });

  it('episodes of world 1.0.0 are accepted, with a note', async () => {
    const { code, stderr } = await run(
      FORMER_FILES.trajectories,
      'former',
      ...['--allow-eval-seeds', '--seeds', '0-9', '--validation', '0'],
    );
    const sentence =
      '1 episode is of world 1.0.0 (6 of 8 components). Its rules are those of this world. Only its 6 components were compared.';
    expect([code, stderr]).toEqual([0, expect.stringContaining(sentence)]);
    expect(read('former', 'README.md')).toContain(`\n${sentence}\n`);
  });
});

it('dataset sft replaces an existing dataset completely, and refuses to replace it in another format', async () => {
  const output = pathOf('twice');
  await sft('--jsonl', input, '--output', output);
  expect((await sft('--jsonl', input, '--output', output, '--validation', '0')).code).toBe(0);
  expect(readdirSync(output).sort()).toEqual(['README.md', 'train.jsonl']);
  const other = await sft('--jsonl', input, '--output', output, '--format', 'parquet');
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('which already contains train.jsonl'),
  ]);
});

describe('episodes with mismatches and invalid lines', () => {
  const text = [
    episodeLine(plannerEpisodes[10]),
    episodeLine(changedAt(plannerEpisodes[11], 'steps.2.completion', '5 5 5 EXERCISE')),
    '{}\n',
    episodeLine(plannerEpisodes[10]),
  ].join('');
  const run = (...args: string[]) =>
    runCli(['dataset', 'sft', '--jsonl', '-', '--validation', '0', ...args], text);

  it('are reported and left out, with exit code 1', async () => {
    const { code, stderr } = await run('--output', pathOf('mismatched'));
    expect(code).toBe(1);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      expect.stringContaining('standard input:3: skipped, foreign: schema: Expected'),
      expect.stringContaining('standard input:4: skipped, duplicate: Expected each episode once'),
      expect.stringMatching(
        /^standard input:2: left out, not as recorded: step 2, (action|belief|reasoning)$/,
      ),
    ]);
    expect(lines[3]).toContain('28 training rows and 0 validation rows');
    expect(lines[3]).toContain(
      '1 episode used, 1 left out. 1 NOT AS RECORDED: see rhythm-vec reeval. 2 lines skipped',
    );
    expect(fromLines(read('mismatched', 'train.jsonl'))).toHaveLength(28);
  });

  it('give exit code 0 with --skip-bad', async () => {
    expect((await run('--output', pathOf('skipped'), '--skip-bad')).code).toBe(0);
  });
});

describe('dataset sft refuses, and changes nothing:', () => {
  beforeAll(() => {
    mkdirSync(pathOf('project'));
    writeFileSync(pathOf('project/README.md'), '# A project\n');
    mkdirSync(pathOf('rows'));
    writeFileSync(pathOf('rows/train.jsonl'), '{}\n');
    writeFileSync(
      pathOf('score.jsonl'),
      recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) })
        .map(episodeLine)
        .join(''),
    );
  });
  const output = ['--output', pathOf('x')];
  it.each<[string, readonly string[], string]>([
    ['no input', output, "required option '--jsonl <files...>'"],
    ['no output', ['--jsonl', input], "required option '--output <directory>'"],
    ['a missing file', ['--jsonl', pathOf('none'), ...output], 'it does not exist'],
    [
      'evaluation seeds',
      ['--jsonl', input, ...output, '--seeds', '0-99'],
      'where 0-99 are kept for evaluation',
    ],
    ['an unknown objective', ['--jsonl', input, ...output, '--objective', 'scor'], 'Did you mean "score"?'],
    [
      'an unknown format',
      ['--jsonl', input, ...output, '--format', 'csv'],
      'Allowed choices are jsonl, parquet',
    ],
    [
      'a score that is not a number',
      ['--jsonl', input, ...output, '--min-score', 'high'],
      'Expected a decimal number',
    ],
    [
      'a score above 1',
      ['--jsonl', input, ...output, '--min-score', '2'],
      'Expected --min-score to be from 0 to 1, got 2',
    ],
    [
      'the README.md of another project',
      ['--jsonl', input, '--output', pathOf('project')],
      'whose README.md is not the card',
    ],
    [
      'rows of another dataset',
      ['--jsonl', input, '--output', pathOf('rows')],
      'which already contains train.jsonl',
    ],
    [
      'an output directory that is a file',
      ['--jsonl', input, '--output', input],
      'is not a directory. Name another path.',
    ],
    [
      'episodes whose teachers all have the objective score',
      ['--jsonl', pathOf('score.jsonl'), ...output],
      'another objective (1). Only teachers of objective wellbeing are used. Choose another (score, none) with --objective',
    ],
    [
      'filters that leave no episode',
      ['--jsonl', input, ...output, '--min-score', '1'],
      'a lower score (20)',
    ],
    [
      'filters that leave no episode, with missing parent directories',
      ['--jsonl', input, '--output', pathOf('x/y/z'), '--min-score', '1'],
      'a lower score (20)',
    ],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await sft(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
    expect(existsSync(pathOf('x'))).toBe(false);
    expect(readdirSync(pathOf('project'))).toEqual(['README.md']);
    expect(read('rows', 'train.jsonl')).toBe('{}\n');
  });
});

it('dataset sft does not overwrite its own input', async () => {
  const own = pathOf('first/validation.jsonl');
  const rows = read('first', 'validation.jsonl');
  const [card, text] = [read('first', 'README.md'), readFileSync(input, 'utf8')];
  writeFileSync(own, text);
  const { code, stderr } = await sft('--jsonl', own, '--output', pathOf('first'));
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Expected --jsonl to be another file than the validation file of --output'),
  ]);
  expect([read('first', 'validation.jsonl'), read('first', 'README.md')]).toEqual([text, card]);
  writeFileSync(own, rows);
});

it('dataset sft accepts numbers as the card writes them', async () => {
  const args = ['--jsonl', input, '--output', pathOf('small')];
  expect((await sft(...args, '--min-score', '0.0000001')).code).toBe(0);
  const card = read('small', 'README.md');
  const [, score] = /--min-score (\S+)/.exec(card)!;
  expect((await sft(...args, '--min-score', score)).code).toBe(0);
  expect(read('small', 'README.md')).toBe(card);
});

it('dataset sft keeps existing files when it is interrupted', async () => {
  const before = read('first', 'train.jsonl');
  const { child, finished, until } = startCli([
    'dataset',
    'sft',
    '--jsonl',
    '-',
    '--output',
    pathOf('first'),
  ]);
  child.stdin.write('nothing\n');
  await until('stderr', 'standard input:1: skipped');
  child.kill('SIGTERM');
  expect((await finished).code).toBe(143);
  expect(readdirSync(pathOf('first')).sort()).toEqual(['README.md', 'train.jsonl', 'validation.jsonl']);
  expect(read('first', 'train.jsonl')).toBe(before);
});
