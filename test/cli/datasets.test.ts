/** `dataset grpo`, `dataset sft` and `dataset dpo`: rows and their card, written completely or not at all. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemText } from '../../src/rollouts/text/prompt-text.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { grpoRows } from '../../src/training/datasets/grpo/grpo-rows.js';
import { toPlan } from '../../src/training/datasets/state-sampler.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';
import { range } from '../support/sft.js';
import {
  changedAt,
  episodeStarts,
  episodesText,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const read = (...path: string[]): string => readFileSync(pathOf(join(...path)), 'utf8');
const folder = (name: string): string => {
  mkdirSync(pathOf(name));
  return pathOf(name);
};
const grpo = (rows: number, output: string, ...more: string[]) =>
  runCli(['dataset', 'grpo', '--rows', String(rows), '--output', pathOf(output), ...more]);
const sft = (jsonl: string, output: string, ...more: string[]) =>
  runCli(['dataset', 'sft', '--jsonl', jsonl, '--output', pathOf(output), ...more]);
const dpo = (jsonl: string, output: string, ...more: string[]) =>
  runCli(['dataset', 'dpo', '--jsonl', jsonl, '--output', pathOf(output), ...more]);
const parquetRows = (path: string) =>
  parquetReadObjects({ file: new Uint8Array(readFileSync(pathOf(path))).buffer });

/** Episodes of evaluation seeds, which datasets leave out, and others. */
const SEEDS = range(95, 119);
const WELLBEING = recordEpisodes(episodeStarts(SEEDS), { player: playerOf({ objective: 'wellbeing' }) });
const incomplete = { policy: TEST_POLICIES.incompleteText, player: playerOf({ model: 'm' }) };
const [taught, sampled] = ['taught.jsonl', 'sampled.jsonl'].map(pathOf);
/** Two samples of one model: one follows the heuristic, the other takes the same action at every step. */
const SAMPLES = [undefined, ACTION_NAMES[9].toUpperCase()].map((action) =>
  recordEpisodes(episodeStarts(SEEDS), {
    player: playerOf({ model: 'm' }),
    ...(action && { policy: ({ prompt }) => ({ prompt, completion: `5 5 5 ${action}` }) }),
  }),
);

const SPLITS = ['README.md', 'train.jsonl', 'validation.jsonl'];
const DATASETS = [
  { kind: 'grpo', files: SPLITS.slice(0, 2) },
  { kind: 'sft', files: SPLITS },
  { kind: 'dpo', files: SPLITS },
];

beforeAll(async () => {
  // The last three episodes have no objective, so `dataset sft` leaves them out.
  writeFileSync(taught, WELLBEING.map(episodeLine).join('') + episodesText([100, 101, 102], incomplete));
  writeFileSync(sampled, SAMPLES.flat().map(episodeLine).join(''));
  const results = [await grpo(70, 'grpo/train.jsonl'), await sft(taught, 'sft'), await dpo(sampled, 'dpo')];
  expect(results.map(({ code, stdout }) => [code, stdout])).toEqual(Array(3).fill([0, '']));
  expect(results.map(({ stderr }) => stderr)).toEqual([
    `70 rows written to ${pathOf('grpo/train.jsonl')}, the card to ${pathOf('grpo/README.md')}.\n`,
    expect.stringMatching(
      /^\d+ training rows and \d+ .*sft, with their card\. 20 episodes used, 8 left out\.\n$/,
    ),
    expect.stringMatching(
      /^\d+ training pairs and .*dpo, with their card\. 40 episodes compared, 10 left out\.\n$/,
    ),
  ]);
});

describe.each(DATASETS)('dataset $kind', ({ kind, files }) => {
  it('shows a row with all columns in its help', async () => {
    const { stdout } = await runCli(['dataset', kind, '--help']);
    const [row] = /^ {2}\{"[\s\S]*?\}$/m.exec(stdout)!;
    const shown = Array.from(row.matchAll(/(?<=^ {2}\{|^ {3}|,)"(\w+)":/gm), ([, name]) => name);
    const columns = Object.keys(fromLines(read(kind, 'train.jsonl'))[0]);
    expect(shown.filter((name) => name !== 'content')).toEqual(columns);
  });

  it('writes a card whose command reproduces the same bytes on the reference backend', async () => {
    expect(readdirSync(pathOf(kind)).sort()).toEqual(files);
    const card = read(kind, 'README.md');
    // The card names files without the directory of this test.
    expect(card).not.toContain(pathOf(''));
    const [, command] = /```sh\nrhythm-vec (.*)\n```/.exec(card)!;
    const again = join(folder(`${kind}-again`), kind);
    const paths: Record<string, string> = {
      ...{ 'taught.jsonl': taught, 'sampled.jsonl': sampled, [kind]: again },
      'train.jsonl': join(again, 'train.jsonl'),
    };
    // The first two words are the command.
    const args = command.split(' ').map((word, k) => (k < 2 ? word : (paths[word] ?? word)));
    expect((await runCli([...args, '--backend', 'reference'])).code).toBe(0);
    for (const name of files) expect(readFileSync(join(again, name), 'utf8')).toBe(read(kind, name));
  });
});

describe('dataset grpo', () => {
  it('writes the rows of its options, also as Parquet', async () => {
    expect(fromLines(read('grpo', 'train.jsonl'))).toEqual([...grpoRows(toPlan({ rows: 70 }), {})].flat());
    const options = ['--seeds', '90-300', '--allow-eval-seeds', '--seed', '5', '--steps', '9-12'];
    const profiles = ['--profiles', 'mix,introvert_morning'];
    const { code } = await grpo(40, 'parquet/train.parquet', ...options, ...profiles);
    expect(code).toBe(0);
    const plan = toPlan({
      ...{ rows: 40, seeds: { first: 90, last: 300 }, allowEvalSeeds: true, seed: 5 },
      profiles: ['sampled', 'discrete', 'introvert_morning'],
      steps: { first: 9, last: 12 },
    });
    const rows = await parquetRows('parquet/train.parquet');
    expect(
      rows.map((row) => ({ ...row, seed: Number(row.seed), step_index: Number(row.step_index) })),
    ).toEqual([...grpoRows(plan, {})].flat());
    expect(read('parquet', 'README.md')).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
  });

  it('replaces its earlier dataset, and no card of another dataset, also through a link', async () => {
    const two = folder('two');
    const [first, second] = [join(two, 'a b.jsonl'), join(two, 'test.jsonl')];
    for (const rows of [3, 2]) await grpo(rows, 'two/a b.jsonl');
    expect(fromLines(read('two', 'a b.jsonl'))).toHaveLength(2);
    const card = read('two', 'README.md');
    const { code, stderr } = await grpo(4, 'two/test.jsonl');
    expect([code, existsSync(second)]).toEqual([2, false]);
    expect(stderr).toContain('got another file. Write --output to a directory of its own.');
    expect(read('two', 'README.md')).toBe(card);
    // The header as another tool may write it: the names of the files cannot be read from it.
    writeFileSync(join(two, 'README.md'), card.replace(/^configs: .*$/m, 'configs:\n- config_name: default'));
    expect((await grpo(4, 'two/test.jsonl')).code).toBe(2);
    writeFileSync(join(two, 'README.md'), card);
    rmSync(first);
    expect((await grpo(4, 'two/test.jsonl')).code).toBe(0);
    symlinkSync('README.md', join(two, 'link.jsonl'));
    const linked = await grpo(4, 'two/link.jsonl');
    expect([linked.code, linked.stderr]).toEqual([2, expect.stringContaining('its card README.md, got')]);
    for (const kind of ['sft', 'dpo']) expect((await grpo(3, `${kind}/grpo.jsonl`)).code).toBe(2);
    expect([existsSync(pathOf('sft/grpo.jsonl')), readdirSync(pathOf('dpo')).sort()]).toEqual([
      false,
      SPLITS,
    ]);
  });

  it('changes with --grader the prompts and the card, but not the states', async () => {
    const own = { name: 'own', weights: { wellbeing: 0.5, belief_skill: 0.5 } };
    writeFileSync(pathOf('own.json'), JSON.stringify(own));
    const rowsUnder = async (name: string, grader: string) => {
      const { code } = await grpo(20, `${name}/train.jsonl`, '--steps', '3-27', '--grader', grader);
      expect(code).toBe(0);
      return fromLines(read(name, 'train.jsonl'));
    };
    const [v3, mine] = [await rowsUnder('v3', 'v3'), await rowsUnder('own', pathOf('own.json'))];
    expect(v3[0].prompt[0].content).toBe(systemText('v3'));
    expect(mine[0].prompt[0].content).toBe(systemText(own));
    const states = (rows: typeof v3) => rows.map(({ prompt: [, user], ...rest }) => ({ user, ...rest }));
    expect(states(mine)).toEqual(states(v3));
    expect(read('v3', 'README.md')).toContain('Client("http://127.0.0.1:8000"), grader="v3")');
    expect(read('own', 'README.md')).toContain('grader={"name":"own","weights":{"crash_free":0,');
    expect(read('own', 'README.md')).toContain('--grader own.json');
  });
});

describe('dataset sft', () => {
  it('writes the rows of the objective wellbeing, and by options those of other teachers as Parquet', async () => {
    const rows = [...fromLines(read('sft', 'train.jsonl')), ...fromLines(read('sft', 'validation.jsonl'))];
    expect(rows).toHaveLength(20 * 28);
    expect(new Set(rows.map(({ objective }) => objective))).toEqual(new Set(['wellbeing']));
    const { code, stderr } = await runCli(
      [
        ...[
          'dataset',
          'sft',
          '--jsonl',
          '-',
          taught,
          '--output',
          pathOf('sft-parquet'),
          '--format',
          'parquet',
        ],
        ...['--objective', 'none', '--teacher', 'test', '--model', 'm', '--conditions', 'custom'],
        ...['--seeds', '90-200', '--allow-eval-seeds', '--allow-oracle', '--steps', '0-20', '--grader', 'v1'],
        ...['--min-score', '0.0000001', '--min-margin', '-0.9', '--max-belief-error', '.9'],
        ...['--validation', '0', '--split-seed', '3', '--threads', '1'],
      ],
      episodesText([90], { ...incomplete, player: playerOf({ model: 'm', oracle: true }) }),
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('4 episodes used')]);
    const stored = await parquetRows('sft-parquet/train.parquet');
    expect(new Set(stored.map(({ seed }) => Number(seed)))).toEqual(new Set([90, 100, 101, 102]));
    expect(Math.max(...stored.map(({ step_index }) => Number(step_index)))).toBe(20);
    const card = read('sft-parquet', 'README.md');
    expect(card).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
    expect(card).toContain(' --min-score 1e-7 --min-margin -0.9 --max-belief-error 0.9 ');
    expect(card).toContain(' --validation 0 --split-seed 3 ');
  });

  const run = (lines: string, name: string, ...args: string[]) =>
    runCli(['dataset', 'sft', '--jsonl', '-', '--output', pathOf(name), '--validation', '0', ...args], lines);

  it('has prompts that describe the grader of their episode; the card warns if it is not that of the scores', async () => {
    const any = ['--objective', 'none'];
    const text = episodesText([100], { grader: 'v3' }) + episodesText([101, 102], { grader: 'v2' });
    expect((await run(text, 'differ', ...any)).code).toBe(0);
    expect(fromLines(read('differ', 'train.jsonl'))[0].messages[0].content).toBe(systemText('v3'));
    const card = read('differ', 'README.md');
    expect(card).toContain('of their episode: v3 (1 episode) and v2 (2 episodes).\n');
    expect(card).toContain('**SCORES AND MARGINS ARE UNDER v2, BUT PROMPTS DESCRIBE ANOTHER GRADER.**');
    expect((await run(episodesText([100], { grader: 'v3' }), 'v3s', ...any, '--grader', 'v3')).code).toBe(0);
    expect(read('v3s', 'README.md')).toContain('| second-half mean | wellbeing | belief skill |');
    expect(read('v3s', 'README.md')).not.toContain('PROMPTS DESCRIBE ANOTHER');
    // Under v2 the heuristic with a constant belief scores about 0.6, under v3 at most 0.5.
    for (const [grader, message] of Object.entries({ v2: '3 episodes used', v3: 'a lower score (3)' })) {
      const { stderr } = await run(
        text,
        `least-${grader}`,
        ...any,
        '--grader',
        grader,
        '--min-score',
        '0.54',
      );
      expect(stderr).toContain(message);
    }
  });

  it('replaces its earlier dataset completely, but not one in another format or of another kind, nor its input', async () => {
    expect((await sft(taught, 'twice')).code).toBe(0);
    expect((await sft(taught, 'twice', '--validation', '0')).code).toBe(0);
    expect(readdirSync(pathOf('twice')).sort()).toEqual(SPLITS.slice(0, 2));
    const parquet = await sft(taught, 'twice', '--format', 'parquet');
    expect([parquet.code, parquet.stderr]).toEqual([
      2,
      expect.stringContaining('already contains train.jsonl'),
    ]);
    const other = await sft(sampled, 'dpo', '--objective', 'none');
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('not the card of a dataset for SFT'),
    ]);
    writeFileSync(pathOf('twice/validation.jsonl'), readFileSync(taught));
    const own = await sft(pathOf('twice/validation.jsonl'), 'twice');
    expect([own.code, own.stderr]).toEqual([
      2,
      expect.stringContaining('than the validation file of --output'),
    ]);
    expect(read('twice', 'validation.jsonl')).toBe(readFileSync(taught, 'utf8'));
  });

  it('reports episodes with mismatches and invalid lines, and leaves them out, with exit code 1 or --skip-bad', async () => {
    const text = [
      episodeLine(WELLBEING[10]),
      episodeLine(changedAt(WELLBEING[11], 'steps.2.completion', '5 5 5 EXERCISE')),
      ...['{}\n', episodeLine(WELLBEING[10])],
    ].join('');
    const { code, stderr } = await run(text, 'mismatched');
    expect([code, stderr.trimEnd().split('\n')]).toEqual([
      1,
      [
        expect.stringContaining('standard input:3: skipped, foreign: schema: Expected'),
        expect.stringContaining('standard input:4: skipped, duplicate: Expected each episode once'),
        expect.stringMatching(
          /^standard input:2: left out, not as recorded: step 2, (action|belief|reasoning)$/,
        ),
        expect.stringMatching(/1 episode used, 1 left out\. 1 NOT AS RECORDED: .*\. 2 lines skipped/),
      ],
    ]);
    expect(fromLines(read('mismatched', 'train.jsonl'))).toHaveLength(28);
    expect((await run(text, 'skipped', '--skip-bad')).code).toBe(0);
  });
});

describe('dataset dpo', () => {
  it('writes pairs of answers, and by options other pairs as Parquet', async () => {
    const rows = [...fromLines(read('dpo', 'train.jsonl')), ...fromLines(read('dpo', 'validation.jsonl'))];
    expect(new Set(rows.map(({ seed }) => seed))).toEqual(new Set(SEEDS.slice(5)));
    for (const { prompt, chosen, rejected } of rows) {
      expect(prompt.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
      expect([chosen, rejected].flat().map(({ role }) => role)).toEqual(['assistant', 'assistant']);
    }
    expect(read('dpo', 'README.md')).toContain('neglect of the first half counts as better');
    const options = [
      ...[
        '--format',
        'parquet',
        '--by',
        'return',
        '--min-margin',
        '0.01',
        '--all-pairs',
        '--teacher',
        'test',
      ],
      ...['--model', 'm', '--conditions', 'custom', '--seeds', '90-110', '--allow-eval-seeds'],
      ...['--allow-oracle', '--steps', '0-5', '--grader', 'v3', '--validation', '0', '--split-seed', '3'],
    ];
    const { code } = await dpo(sampled, 'dpo-parquet', ...options);
    expect(code).toBe(0);
    const [row] = await parquetRows('dpo-parquet/train.parquet');
    expect(row.chosen).toEqual([{ role: 'assistant', content: expect.any(String) }]);
    expect(Number(row.chosen_value) - Number(row.rejected_value)).toBeGreaterThanOrEqual(0.01);
    const card = read('dpo-parquet', 'README.md');
    expect(card).toContain('EVALUATION SEEDS ARE AMONG THEM: 90-99');
    expect(card).toContain('--by return --min-margin 0.01 --all-pairs --teacher test');
  });

  it('replaces its earlier dataset, and reports episodes that differ from their replay', async () => {
    const changed = changedAt(SAMPLES[1][10], 'steps.3.reward', (reward: number) => reward + 1);
    const episodes = [SAMPLES[0][10], SAMPLES[1][11], SAMPLES[0][11], changed];
    writeFileSync(pathOf('changed.jsonl'), episodes.map(episodeLine).join(''));
    const { code, stderr } = await dpo(pathOf('changed.jsonl'), 'dpo', '--validation', '0');
    expect(code).toBe(1);
    expect(stderr).toMatch(/changed\.jsonl:4: left out, not as recorded: .*1 NOT AS RECORDED/s);
    expect(fromLines(read('dpo', 'train.jsonl')).map(({ seed }) => seed)).not.toContain(105);
  });
});
