/** `eval --components` and `regrade`: stored components give the same scores as playing again. */
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { evaluate, type Grader, parseGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const stored = pathOf('components.jsonl');
const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
const readJson = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));

beforeAll(async () => {
  writeFileSync(pathOf('calm.json'), JSON.stringify(calm));
  const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5', '--components', stored];
  expect((await runCli(args)).code).toBe(0);
});

const regrade = (input: string, ...args: string[]) =>
  runCli(['regrade', '--components', '-', ...args], input);
const regradeStored = (...args: string[]) => runCli(['regrade', '--components', stored, ...args]);

it('eval --components writes a header, then every episode of every policy', () => {
  const [header, ...rows] = fromLines(readFileSync(stored, 'utf8'));
  expect(header).toMatchObject({
    schema: SCHEMAS.components,
    grader: 'v2',
    grader_weights: { crash_free: 0.15 },
  });
  // Six policies; ood, the three named profiles apart, and the three together.
  expect(rows).toHaveLength(6 * (5 + 15 + 15));
  expect(rows.find((row) => row.belief === 'constant')).toMatchObject({
    condition: 'ood',
    profile: 'sampled',
    seed: 10000,
  });
  expect(Object.keys(rows[0]).slice(-2)).toEqual(['belief_mae', 'final_score']);
});

describe('regrade', () => {
  it.each([
    ['v1', 'v1'],
    ['v2', 'v2'],
    ['v3', 'v3'],
    [pathOf('calm.json'), parseGrader(JSON.stringify(calm))],
  ] as [string, string | Grader][])(
    'under %s gives the rows of an evaluation under that grader',
    async (option, grader) => {
      const { code, stderr } = await regradeStored('--grader', option, '--json', pathOf('new/re.json'));
      expect([code, stderr]).toEqual([0, '']);
      // Policies with an action sequence are not compared: the stored episodes keep the sequence of the grader under which
      // they were played.
      const policies = POLICIES.filter(({ sequenceGrader }) => sequenceGrader('v2') === null).map(
        ({ name }) => name,
      );
      const evaluation = await evaluate({ conditions: ['ood', 'discrete'], episodes: 5, grader, policies });
      const { rows, ...expected } = evaluationToJson(evaluation) as {
        rows: Record<string, unknown>[];
        grader: string;
        grader_weights: object;
      };
      // Files of components have no counts of unparsed answers and no usage, and regrade adds no scores under other graders.
      const expectedRows = rows.map(({ unparsed: _, usage: __, regraded: ___, ...row }) => row);
      const regraded = readJson('new/re.json');
      expect(
        regraded.rows.filter(
          ({ sequence_grader }: { sequence_grader: string | null }) => sequence_grader === null,
        ),
      ).toEqual(expectedRows);
      const { grader: name, grader_weights } = expected;
      expect(regraded).toMatchObject({ schema: SCHEMAS.regrade, grader: name, grader_weights });
      expect(regraded.conditions).toHaveLength(5);
    },
  );

  it('prints the rows, the ranking and its sensitivity to the weights, in lines of at most 140 characters', async () => {
    const { code, stdout } = await regradeStored('--grader', pathOf('calm.json'));
    expect(code).toBe(0);
    expect(stdout).toContain(
      '210 stored episodes, not played again; grader calm\ncalm weighs crash_free 0.5',
    );
    expect(stdout).toContain('ood: seeds 10000-10004, 5 episodes');
    expect(stdout).toMatch(/ood: +final score +lead over the/);
    expect(stdout).toMatch(/belief_accuracy +0\.200 +0\.\d{3} {2}heuristic passes random\+constant/);
    expect(stdout).not.toContain('-0.000');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(140);
  });

  it('accepts a selection of conditions, concatenated files, unknown keys, unknown policies and blank lines', async () => {
    const { stdout: selected } = await regradeStored('--conditions', 'discrete', '--json', '-');
    const { conditions, rows } = JSON.parse(selected);
    expect(conditions.map(({ condition }: { condition: string }) => condition)).toEqual(['discrete']);
    expect(rows).toHaveLength(6);
    const more = await runCli('eval --seeds 7-9 --policies random --components - --grader v1'.split(' '));
    const other = more.stdout.replaceAll('"policy":"random"', '"policy":"mine","note":[1]');
    const { code, stdout } = await regrade(`${readFileSync(stored, 'utf8')}\n${other}\r\n`, '--json', '-');
    expect(code).toBe(0);
    const row = JSON.parse(stdout).rows.find(({ policy }: { policy: string }) => policy === 'mine');
    expect(row).toMatchObject({ condition: 'custom', seeds: '7-9', episodes: 3, wins: null });
    expect(await regrade(other)).toMatchObject({ code: 0, stdout: expect.stringMatching(/mine .* -\n/) });
  });
});

it('regrade refuses an incomplete file, and a hard link to its input as its output, and changes no file', async () => {
  const [cut, kept, link] = ['cut.jsonl', 'kept.json', 'link.jsonl'].map(pathOf);
  const before = readFileSync(stored, 'utf8');
  writeFileSync(cut, before.slice(0, 5000));
  writeFileSync(kept, 'as it was');
  const { code, stderr } = await runCli(['regrade', '--components', cut, '--json', kept]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${cut}:`)]);
  expect(readFileSync(kept, 'utf8')).toBe('as it was');
  linkSync(stored, link);
  expect((await regradeStored('--json', link)).code).toBe(2);
  expect(readFileSync(stored, 'utf8')).toBe(before);
});
