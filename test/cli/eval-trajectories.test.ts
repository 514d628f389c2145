/** `eval --trajectories`: a file that `reeval` replays as recorded, written completely or not at all. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const leftovers = () => readdirSync(dirname(pathOf('x'))).filter((name) => name.endsWith('.tmp'));
const rowsOf = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8')).rows;

it('eval --trajectories writes every episode without changing results, and reeval finds no mismatch', async () => {
  const evalArgs = ['eval', '--policies', 'random,heuristic+constant,heuristic+inference', '--episodes', '4'];
  const stored = ['--trajectories', pathOf('t.jsonl'), '--json', pathOf('with.json')];
  const { code, stdout, stderr } = await runCli([...evalArgs, ...stored]);
  expect([code, stderr]).toEqual([0, '']);
  await runCli([...evalArgs, '--json', pathOf('without.json')]);
  expect(rowsOf('with.json')).toEqual(rowsOf('without.json'));
  const episodes = rowsOf('with.json').reduce(
    (sum: number, row: { episodes: number }) => sum + row.episodes,
    0,
  );
  expect(stdout).toContain(`${episodes} episodes in`);
  const reevaluation = await runCli([
    'reeval',
    '--jsonl',
    pathOf('t.jsonl'),
    '--grader',
    'v2',
    '--json',
    pathOf('re.json'),
  ]);
  expect([reevaluation.code, reevaluation.stdout]).toEqual([
    0,
    expect.stringContaining(`${episodes} episodes replayed, all as recorded, bit for bit.`),
  ]);
  // reeval has the same scores under the same names.
  for (const { condition, policy, belief, digest } of rowsOf('with.json')) {
    const teacher = belief === 'constant' ? `${policy}+constant` : policy;
    const same = rowsOf('re.json').filter(
      (row: Record<string, unknown>) => row.condition === condition && row.teacher === teacher,
    );
    expect(same.map((row: { digest: string }) => row.digest)).toEqual([digest]);
  }
});

it("reeval shows a policy's published score; for a policy without one, that of RhythmEnv's frontier model", async () => {
  const evalArgs = [
    'eval',
    '--policies',
    'heuristic,planner-prior',
    '--conditions',
    'ood',
    '--episodes',
    '2',
  ];
  await runCli([...evalArgs, '--trajectories', pathOf('published.jsonl')]);
  const { stdout } = await runCli(['reeval', '--jsonl', pathOf('published.jsonl'), '--grader', 'v2']);
  expect(stdout.match(/^heuristic +\S+ ±\S+ +0\.454 /gm)).toHaveLength(2);
  expect(stdout).toMatch(/^planner-prior +\S+ ±\S+ +0\.621 /m);
  expect(stdout).toContain('whose belief MAE was 0.196 in-distribution and 0.214 ood.\n');
  expect(stdout).toContain('\npublished: RhythmEnv, docs/results.md, by its author (InosLihka); ');
});

const HEURISTIC = ['eval', '--seeds', '5-6', '--policies', 'heuristic'];

it('eval writes all outputs completely, even if their long names differ only at the end', async () => {
  const name = 'p'.repeat(100);
  const path = pathOf(name);
  const outputs = [
    '--components',
    `${path}.components.jsonl`,
    '--trajectories',
    `${path}.trajectories.jsonl`,
  ];
  const { code, stderr } = await runCli([...HEURISTIC, '--json', `${path}.json`, ...outputs]);
  expect([code, stderr]).toEqual([0, '']);
  expect(rowsOf(`${name}.json`)).toHaveLength(1);
  const lines = [outputs[1], outputs[3]].map((output) => fromLines(readFileSync(output, 'utf8')));
  // The file of --components begins with a header.
  expect(lines.map(({ length }) => length)).toEqual([3, 2]);
});

it('eval leaves no temporary file beside an output if another output cannot be opened', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(pathOf('socket'), resolve));
  const outputs = ['--components', pathOf('socket'), '--trajectories', pathOf('never.jsonl')];
  const { code, stderr } = await runCli([...HEURISTIC, ...outputs]);
  server.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining('system call open to succeed, got ENXIO')]);
  expect(existsSync(pathOf('never.jsonl'))).toBe(false);
  expect(leftovers()).toEqual([]);
});

it('eval --trajectories - writes only episodes to the standard output', async () => {
  const { stdout, stderr } = await runCli([
    'eval',
    '--seeds',
    '5-6',
    '--policies',
    'random',
    '--trajectories',
    '-',
  ]);
  expect(fromLines(stdout).map(({ teacher, seed }) => [teacher, seed])).toEqual([
    ['random', 5],
    ['random', 6],
  ]);
  expect(stderr).toContain('won/lost/tied');
});

describe('eval --trajectories refuses, as a usage error,', () => {
  const refused: [string, string[], string][] = [
    [
      'too many episodes for a file, and suggests --components',
      ['--seeds', '0-9999999', '--trajectories', pathOf('no.jsonl')],
      'got 60000000 (6 policies, 10000000 episodes each). An episode takes about 14 kB of JSON: add --format parquet, name fewer --seeds or --policies, ' +
        'or store --components.',
    ],
    [
      'the path of another output',
      ['--components', pathOf('no.jsonl'), '--trajectories', `${dirname(pathOf('x'))}/./no.jsonl`],
      'Expected --trajectories to be another file than --components',
    ],
    [
      'the path of FILE.partial, which keeps the paid episodes',
      ['--policies', 'llm:m', '--json', pathOf('t.jsonl.partial'), '--trajectories', pathOf('t.jsonl')],
      'Expected --json to be another file than the temporary files of --trajectories',
    ],
    ['the standard output twice', ['--json', '-', '--trajectories', '-'], 'another file than --json, got -.'],
    ['an output inside a file', ['--trajectories', '/dev/null/t.jsonl'], '/dev/null is not a directory'],
    [
      "the grader's file",
      ['--grader', pathOf('calm.json'), '--trajectories', pathOf('calm.json')],
      'Expected --trajectories to be another file than --grader',
    ],
  ];
  it.each(refused)('%s', async (_, args, message) => {
    writeFileSync(pathOf('calm.json'), '{"name":"calm","weights":{"crash_free":1}}');
    const { code, stdout, stderr } = await runCli(['eval', ...args]);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
    expect(existsSync(pathOf('no.jsonl'))).toBe(false);
  });
});

it('eval --trajectories keeps the old file when interrupted, and leaves nothing beside it', async () => {
  writeFileSync(pathOf('kept.jsonl'), 'as it was');
  const running = startCli(['eval', '--seeds', '0-9999', '--trajectories', pathOf('kept.jsonl')]);
  await running.until('stdout', 'world');
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.finished;
  expect([code, stderr]).toEqual([143, 'error: Interrupted. No output file was changed.\n']);
  expect(readFileSync(pathOf('kept.jsonl'), 'utf8')).toBe('as it was');
  expect(leftovers()).toEqual([]);
});

it.each([
  ['--components', 'blocked.components.jsonl'],
  ['--trajectories', 'blocked.jsonl'],
  ['--trajectories', 'blocked.parquet'],
])('eval leaves none of its outputs if the file of %s, %s, cannot be completed', async (option, name) => {
  const policy = pathOf(`${name}.mjs`);
  // A directory that is made while the policy plays, in place of the file.
  writeFileSync(
    policy,
    `import { mkdirSync } from 'node:fs';
    export default ({ steps }) => {
      mkdirSync(${JSON.stringify(pathOf(name))}, { recursive: true });
      return { actions: steps.map(() => 3) };
    };`,
  );
  const outputs = {
    '--json': 'none.json',
    '--components': 'none.components.jsonl',
    '--trajectories': 'none.jsonl',
    [option]: name,
  };
  const paths = Object.entries(outputs).map(([flag, file]) => [flag, pathOf(file)]);
  const { code, stderr } = await runCli([...HEURISTIC, '--policies', policy, ...paths.flat()]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/to be a file, got a directory, which was made/)]);
  expect(paths.filter(([, path]) => statSync(path, { throwIfNoEntry: false })?.isFile())).toEqual([]);
  expect(leftovers()).toEqual([]);
});
