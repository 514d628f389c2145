/** `regrade`: stored trajectories give the same scores as playing again. */
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { evaluate, type Grader, parseGrader } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const stored = pathOf('episodes.jsonl');
const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
const readJson = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));

beforeAll(async () => {
  writeFileSync(pathOf('calm.json'), JSON.stringify(calm));
  const args = ['eval', '--conditions', 'ood,discrete', '--episodes', '5', '--trajectories', stored];
  expect((await runCli(args)).code).toBe(0);
});

const regrade = (input: string, ...args: string[]) => runCli(['regrade', '--jsonl', '-', ...args], input);
const regradeStored = (...args: string[]) => runCli(['regrade', '--jsonl', stored, ...args]);

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
      // A regraded row has no counts of unparsed answers, no usage, no scores under other graders and no verdict.
      const expectedRows = rows.map(
        ({ unparsed: _, usage: __, regraded: ___, verdict: ____, ...row }) => row,
      );
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

  it('accepts a selection of conditions, several files, Parquet, unknown policies and blank lines', async () => {
    const { stdout: selected } = await regradeStored('--conditions', 'discrete', '--json', '-');
    const { conditions, rows } = JSON.parse(selected);
    expect(conditions.map(({ condition }: { condition: string }) => condition)).toEqual(['discrete']);
    expect(rows).toHaveLength(6);
    const more = 'eval --seeds 7-9 --policies random --grader v1 --trajectories';
    const { stdout: other } = await runCli([...more.split(' '), '-']);
    const mine = other.replaceAll('"teacher":"random"', '"teacher":"mine"');
    const { code, stdout } = await regrade(`${readFileSync(stored, 'utf8')}\n${mine}\r\n`, '--json', '-');
    expect(code).toBe(0);
    const row = JSON.parse(stdout).rows.find(({ policy }: { policy: string }) => policy === 'mine');
    expect(row).toMatchObject({ condition: 'custom', seeds: '7-9', episodes: 3, wins: null });
    expect(await regrade(mine)).toMatchObject({ code: 0, stdout: expect.stringMatching(/mine .* -\n/) });
    await runCli([...more.split(' '), pathOf('more.parquet')]);
    const both = await runCli(['regrade', '--jsonl', stored, pathOf('more.parquet'), '--json', '-']);
    expect(JSON.parse(both.stdout).rows).toHaveLength(6 * 5 + 1);
  });
});

describe('regrade refuses, with an error that names the file and the line,', () => {
  type Episode = Record<string, unknown> & {
    final: Record<string, number>;
    seed: number;
    profile_mode: string;
  };
  const lines = () => readFileSync(stored, 'utf8').trimEnd().split('\n');
  const withLine = (at: number, line: string): string[] => lines().map((each, i) => (i === at ? line : each));
  const changed = (at: number, change: (episode: Episode) => object): string[] => {
    const episode = JSON.parse(lines()[at]) as Episode;
    return withLine(at, JSON.stringify({ ...episode, ...change(episode) }));
  };
  const final = (values: object) => (episode: Episode) => ({ final: { ...episode.final, ...values } });
  it.each<[string, () => string[], string]>([
    ['an empty file', () => [], '-: Expected episodes, got none.'],
    ['an incomplete line', () => withLine(3, '{"schema":'), 'standard input:4: '],
    [
      'another world',
      () => changed(2, () => ({ world_digest: 'f'.repeat(64) })),
      'standard input:3: world_digest',
    ],
    [
      'a changed component',
      () => changed(1, final({ progress: 0.25 })),
      'standard input:2: final.final_score: Expected 0.',
    ],
    ['a changed score', () => changed(1, final({ final_score: 0.5 })), 'under grader v2, got 0.5.'],
    ['an episode twice', () => [...lines().slice(0, 2), ...lines().slice(1)], 'got 10001 after 10001.'],
    ['a missing episode', () => [...lines().slice(0, 7), ...lines().slice(8)], ' to continue with seed '],
    ['a missing last episode', () => lines().slice(0, -1), 'got the end of the file.'],
  ])('%s', async (_, input, message) => {
    const { code, stderr } = await regrade(`${input().join('\n')}\n`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

it('regrade refuses an incomplete file, and a hard link to its input as its output, and changes no file', async () => {
  const [cut, kept, link] = ['cut.jsonl', 'kept.json', 'link.jsonl'].map(pathOf);
  const before = readFileSync(stored, 'utf8');
  writeFileSync(cut, before.slice(0, 50_000));
  writeFileSync(kept, 'as it was');
  const { code, stderr } = await runCli(['regrade', '--jsonl', cut, '--json', kept]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${cut}:`)]);
  expect(readFileSync(kept, 'utf8')).toBe('as it was');
  linkSync(stored, link);
  expect((await regradeStored('--json', link)).code).toBe(2);
  expect(readFileSync(stored, 'utf8')).toBe(before);
});
