/** `eval --trajectories` on the real command line: a file that `reeval` finds as recorded, whole or not there. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromLines, runCli, startCli, temporaryDirectory } from './support/cli.js';

const file = temporaryDirectory();
const leftovers = () => readdirSync(dirname(file('x'))).filter((name) => name.endsWith('.tmp'));
const rowsOf = (name: string) => JSON.parse(readFileSync(file(name), 'utf8')).rows;

it('writes every episode, which changes no result, and reeval finds them as recorded', async () => {
  const asked = ['eval', '--policies', 'random,heuristic+constant,heuristic+inference', '--episodes', '4'];
  const stored = ['--trajectories', file('t.jsonl'), '--json', file('with.json')];
  const { code, stdout, stderr } = await runCli([...asked, ...stored]);
  expect([code, stderr]).toEqual([0, '']);
  await runCli([...asked, '--json', file('without.json')]);
  expect(rowsOf('with.json')).toEqual(rowsOf('without.json'));
  const episodes = rowsOf('with.json').reduce(
    (sum: number, row: { episodes: number }) => sum + row.episodes,
    0,
  );
  expect(stdout).toContain(`${episodes} episodes in`);
  const again = await runCli([
    'reeval',
    '--jsonl',
    file('t.jsonl'),
    '--grader',
    'v2',
    '--json',
    file('re.json'),
  ]);
  expect([again.code, again.stdout]).toEqual([
    0,
    expect.stringContaining(`${episodes} episodes replayed, all as recorded, bit for bit.`),
  ]);
  // The same scores, under the same names.
  for (const { condition, policy, belief, digest } of rowsOf('with.json')) {
    const teacher = belief === 'constant' ? `${policy}+constant` : policy;
    const same = rowsOf('re.json').filter(
      (row: Record<string, unknown>) => row.condition === condition && row.teacher === teacher,
    );
    expect(same.map((row: { digest: string }) => row.digest)).toEqual([digest]);
  }
});

it("shows a policy of a file with its own published figure in reeval, not with a teacher's", async () => {
  const asked = ['eval', '--policies', 'heuristic,planner-prior', '--conditions', 'ood', '--episodes', '2'];
  await runCli([...asked, '--trajectories', file('published.jsonl')]);
  const { stdout } = await runCli(['reeval', '--jsonl', file('published.jsonl'), '--grader', 'v2']);
  expect(stdout.match(/^heuristic +\S+ ±\S+ +0\.454 /gm)).toHaveLength(2);
  expect(stdout).toMatch(/^planner-prior \(score\) +\S+ ±\S+ +0\.621 /m);
});

it('with --trajectories - has episodes alone on the standard output', async () => {
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

describe('refuses, as a usage error', () => {
  const refused: [string, string[], string][] = [
    [
      'more episodes than a file should have, and says what takes less',
      ['--seeds', '0-9999999', '--trajectories', file('no.jsonl')],
      'got 60000000 (6 policies, 10000000 weeks each). An episode takes some 18 kB: name fewer --seeds or --policies, ' +
        'or store --components.',
    ],
    [
      'the place of another output',
      ['--components', file('no.jsonl'), '--trajectories', `${dirname(file('x'))}/./no.jsonl`],
      'Expected --trajectories to be another file than --components',
    ],
    [
      'the place where weeks that are paid for are kept meanwhile',
      ['--policies', 'llm:m', '--json', file('t.jsonl.partial'), '--trajectories', file('t.jsonl')],
      'Expected --json to be another file than those kept until --trajectories is whole',
    ],
    ['the standard output twice', ['--json', '-', '--trajectories', '-'], 'another file than --json, got -.'],
    ['a missing directory', ['--trajectories', file('no/t.jsonl')], 'Create it first.'],
    [
      "the grader's file",
      ['--grader', file('calm.json'), '--trajectories', file('calm.json')],
      'Expected --trajectories to be another file than --grader',
    ],
  ];
  it.each(refused)('%s', async (_, args, message) => {
    writeFileSync(file('calm.json'), '{"name":"calm","weights":{"crash_free":1}}');
    const { code, stdout, stderr } = await runCli(['eval', ...args]);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, '']);
    expect(existsSync(file('no.jsonl'))).toBe(false);
  });
});

it('when interrupted leaves the file as it was, and nothing beside it', async () => {
  writeFileSync(file('kept.jsonl'), 'as it was');
  const running = startCli(['eval', '--seeds', '0-9999', '--trajectories', file('kept.jsonl')]);
  await running.until('stdout', 'world');
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.finished;
  expect([code, stderr]).toEqual([143, 'error: Interrupted. No output file was changed.\n']);
  expect(readFileSync(file('kept.jsonl'), 'utf8')).toBe('as it was');
  expect(leftovers()).toEqual([]);
});
