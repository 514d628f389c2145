/**
 * Merged shards of `audit` give the JSON and tables of an audit without --shard. A shard computes some pieces of an audit:
 * searches, and recordings of episodes (audit-pieces.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../../support/cli.js';

const pathOf = temporaryDirectory();
const read = (path: string) => readFileSync(path, 'utf8');
const withoutSeconds = (text: string) => text.replace(/"seconds": .*/, '').replace(/^[\d.]+ s\.$/m, '');

const mine = pathOf('mine.mjs');
const SIZES = ['--evaluations', '1000', '--episodes', '8', '--profiles', '2', '--planner-episodes', '5'];
const ARGS = ['audit', ...SIZES, '--grader', 'v3', '--policies', mine];

let whole: { readonly stdout: string };
beforeAll(async () => {
  writeFileSync(mine, 'export default ({ steps }) => ({ actions: steps.map(() => 3) })');
  whole = await runCli([...ARGS, '--json', pathOf('whole.json')]);
}, 120_000);

async function runShards(n: number): Promise<string[]> {
  const paths = Array.from({ length: n }, (_, i) => pathOf(`part-${i}-of-${n}.jsonl`));
  for (const [i, path] of paths.entries()) {
    const { code } = await runCli([...ARGS, '--shard', `${i}/${n}`, '--json', path]);
    expect(code).toBe(0);
  }
  return paths;
}

describe('merge', () => {
  it.each([1, 3])('of %i shards gives the JSON and tables of an audit without --shard', async (n) => {
    const shards = await runShards(n);
    const { code, stdout } = await runCli(['merge', ...shards.reverse(), '--output', pathOf('merged.json')]);
    expect([code, withoutSeconds(stdout)]).toEqual([0, withoutSeconds(whole.stdout)]);
    expect(withoutSeconds(read(pathOf('merged.json')))).toBe(withoutSeconds(read(pathOf('whole.json'))));
  });

  it('refuses shards of audits with different options', async () => {
    const other = pathOf('other.jsonl');
    await runCli([...ARGS, '--seed', '1', '--shard', '1/3', '--json', other]);
    const shards = ['0', '2'].map((i) => pathOf(`part-${i}-of-3.jsonl`));
    const { code, stderr } = await runCli(['merge', ...shards, other, '--output', pathOf('no.json')]);
    expect(code).toBe(1);
    expect(stderr).toContain('options.seed: 0 and 1');
    expect(stderr).toContain('shard 1 is missing');
  });
});

describe('audit --shard', () => {
  it('puts each piece in one shard; the sizes of shards differ by at most one', () => {
    const piecesOf = (path: string): string[] =>
      read(path)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).piece);
    const [all, ...parts] = ['0-of-1', '0-of-3', '1-of-3', '2-of-3'].map((name) =>
      piecesOf(pathOf(`part-${name}.jsonl`)),
    );
    expect(parts.flat().sort()).toEqual([...all].sort());
    const sizes = parts.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it('computes nothing again if the shard is complete', async () => {
    const { code, stderr } = await runCli([...ARGS, '--shard', '0/3', '--json', pathOf('part-0-of-3.jsonl')]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Nothing to do.')]);
  });

  it.each([
    [
      ['--shard', '0/99', '--json', pathOf('x')],
      /at most \d+ shards, one for each of the \d+ pieces of the audit, got 99/,
    ],
    [['--shard', '0/2'], /Expected --json with --shard, got none/],
    [['--shard', '0/2', '--json', pathOf('x'), '--output', pathOf('y')], /Expected no --output with --shard/],
    [['--shard', '0/2', '--json', '-'], /The manifest is written beside it/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCli([...ARGS, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
