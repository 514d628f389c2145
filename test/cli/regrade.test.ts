/** `eval --components` and `regrade`: stored components give the same scores as playing again. */
import { existsSync, linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/policies.js';
import { evaluationToJson } from '../../src/evaluation/evaluation-json.js';
import { evaluate, type Grader, parseGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';

const file = temporaryDirectory();
const leftovers = () => readdirSync(dirname(file('x'))).filter((name) => name.endsWith('.tmp'));
const stored = file('components.jsonl');
const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
const json = (name: string) => JSON.parse(readFileSync(file(name), 'utf8'));

beforeAll(async () => {
  writeFileSync(file('calm.json'), JSON.stringify(calm));
  const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5', '--components', stored];
  expect((await runCli(args)).code).toBe(0);
});

const regrade = (input: string, ...args: string[]) =>
  runCli(['regrade', '--components', '-', ...args], input);

describe('eval --components', () => {
  it('writes a header, then every episode of every policy', () => {
    const [header, ...rows] = fromLines(readFileSync(stored, 'utf8'));
    expect(header).toMatchObject({
      schema: SCHEMAS.components,
      grader: 'v2',
      grader_weights: { crash_free: 0.15 },
    });
    expect(rows).toHaveLength(6 * (5 + 15 + 15));
    expect(rows.find((row) => row.belief === 'constant')).toMatchObject({
      condition: 'ood',
      profile: 'sampled',
      seed: 10000,
    });
    expect(Object.keys(rows[0]).slice(-2)).toEqual(['belief_mae', 'final_score']);
    expect(leftovers()).toEqual([]);
  });

  it('writes the table to the standard error if components go to the standard output', async () => {
    const { code, stdout, stderr } = await runCli(['eval', '--seeds', '0-2', '--components', '-']);
    expect(code).toBe(0);
    expect(fromLines(stdout)).toHaveLength(1 + 6 * 3);
    expect(stderr).toContain('won/lost/tied');
  });

  it('does not change the results in --json', async () => {
    const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5'];
    await runCli([...args, '--json', file('with.json'), '--components', file('other.jsonl')]);
    const { rows } = await evaluate({ conditions: ['ood', 'discrete'], episodes: 5 });
    expect(json('with.json').rows).toEqual((evaluationToJson({ rows } as never) as { rows: unknown }).rows);
    expect(readFileSync(file('other.jsonl'), 'utf8')).toBe(readFileSync(stored, 'utf8'));
  });

  it.each([
    ['a missing directory', ['--components', file('no/x')], 'Create it first.'],
    ['the file of the results', ['--components', file('x'), '--json', file('x')], 'another file than --json'],
    ['both on the standard output', ['--components', '-', '--json', '-'], 'another file than --json'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stdout, stderr } = await runCli(['eval', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(existsSync(file('x'))).toBe(false);
  });

  it('keeps the old file when interrupted, and leaves nothing beside it', async () => {
    writeFileSync(file('kept.jsonl'), 'as it was');
    const running = startCli(['eval', '--seeds', '0-4294967295', '--components', file('kept.jsonl')]);
    await running.until('stdout', 'world');
    running.child.kill('SIGINT');
    expect((await running.finished).code).toBe(130);
    expect(readFileSync(file('kept.jsonl'), 'utf8')).toBe('as it was');
    expect(leftovers()).toEqual([]);
  });
});

describe('regrade', () => {
  it.each([
    ['v1', 'v1'],
    ['v2', 'v2'],
    [file('calm.json'), parseGrader(JSON.stringify(calm))],
  ] as [string, string | Grader][])(
    'under %s gives the rows of an evaluation under that grader',
    async (option, grader) => {
      const { code, stderr } = await runCli([
        'regrade',
        '--components',
        stored,
        '--grader',
        option,
        '--json',
        file('re.json'),
      ]);
      expect([code, stderr]).toEqual([0, '']);
      // The stored episodes keep the action sequence of the grader under which they were played.
      const policies = POLICIES.filter(({ sequenceGrader }) => sequenceGrader('v2') === null).map(
        ({ name }) => name,
      );
      const evaluation = await evaluate({ conditions: ['ood', 'discrete'], episodes: 5, grader, policies });
      const { rows, ...expected } = evaluationToJson(evaluation) as {
        rows: Record<string, unknown>[];
        grader: string;
        grader_weights: object;
      };
      // Files of components have no usage.
      const expectedRows = rows.map(({ unparsed: _, usage: __, ...row }) => row);
      const regraded = json('re.json');
      expect(regraded.rows.filter(({ tape }: { tape: string | null }) => tape === null)).toEqual(
        expectedRows,
      );
      const { grader: name, grader_weights } = expected;
      expect(regraded).toMatchObject({ schema: SCHEMAS.regrade, grader: name, grader_weights });
      expect(regraded.conditions).toHaveLength(5);
    },
  );

  it('prints the rows, the ranking and its sensitivity, in 124 columns', async () => {
    const { code, stdout } = await runCli(['regrade', '--components', stored, '--grader', file('calm.json')]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      '210 stored episodes, not played again; grader calm\ncalm weighs crash_free 0.5',
    );
    expect(stdout).toContain('ood: seeds 10000-10004, 5 episodes');
    expect(stdout).toMatch(/ood: +final score +lead over the/);
    expect(stdout).toMatch(/belief_accuracy +0\.200 +0\.\d{3} {2}heuristic passes random\+constant/);
    expect(stdout).not.toContain('-0.000');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(124);
  });

  it('accepts a selection of conditions, and the standard input', async () => {
    const { code, stdout } = await regrade(
      readFileSync(stored, 'utf8'),
      '--conditions',
      'discrete',
      '--json',
      '-',
    );
    expect(code).toBe(0);
    const { conditions, rows } = JSON.parse(stdout);
    expect(conditions.map(({ condition }: { condition: string }) => condition)).toEqual(['discrete']);
    expect(rows).toHaveLength(6);
    const unknown = await regrade(readFileSync(stored, 'utf8'), '--conditions', 'odd');
    expect(unknown.stderr).toContain('got "odd". Did you mean "ood"?');
  });

  it('accepts concatenated files, unknown keys, unknown policies and blank lines', async () => {
    const more = await runCli([
      'eval',
      '--seeds',
      '7-9',
      '--policies',
      'random',
      '--components',
      '-',
      '--grader',
      'v1',
    ]);
    const other = more.stdout.replaceAll('"policy":"random"', '"policy":"mine","note":[1]');
    const { code, stdout } = await regrade(`${readFileSync(stored, 'utf8')}\n${other}\r\n`, '--json', '-');
    expect(code).toBe(0);
    const row = JSON.parse(stdout).rows.find(({ policy }: { policy: string }) => policy === 'mine');
    expect(row).toMatchObject({ condition: 'custom', seeds: '7-9', episodes: 3, wins: null });
    expect(await regrade(other)).toMatchObject({ code: 0, stdout: expect.stringMatching(/mine .* -\n/) });
  });
});

describe('regrade refuses', () => {
  it('an incomplete file with an error that names it, and keeps the old output', async () => {
    writeFileSync(file('cut.jsonl'), readFileSync(stored, 'utf8').slice(0, 5000));
    writeFileSync(file('kept.json'), 'as it was');
    const { code, stderr } = await runCli([
      'regrade',
      '--components',
      file('cut.jsonl'),
      '--json',
      file('kept.json'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${file('cut.jsonl')}:`);
    expect(readFileSync(file('kept.json'), 'utf8')).toBe('as it was');
    expect(leftovers()).toEqual([]);
  });

  it.each([
    ['a missing file', () => ['--components', file('none')], '--components to name a file'],
    ['a directory', () => ['--components', dirname(stored)], 'it is a directory'],
    ['no components', () => [], "required option '--components <file>' not specified"],
    [
      'its own input as output',
      () => ['--components', stored, '--json', stored],
      'another file than --components',
    ],
    ['an unknown grader', () => ['--components', stored, '--grader', 'v3'], 'or a file, got "v3"'],
  ])('%s', async (_, args, message) => {
    const { code, stderr } = await runCli(['regrade', ...args()]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('a hard link to its own input', async () => {
    linkSync(stored, file('link.jsonl'));
    const before = readFileSync(stored, 'utf8');
    const { code } = await runCli(['regrade', '--components', stored, '--json', file('link.jsonl')]);
    expect([code, readFileSync(stored, 'utf8')]).toEqual([2, before]);
  });
});
