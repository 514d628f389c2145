/** Shards of `dataset grpo`, and Parquet files of merges: the bytes of the run without --shard. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../../support/cli.js';

const pathOf = temporaryDirectory();
const read = (path: string) => readFileSync(path);

/** Runs all shards of n. @returns the paths of their files, the last one first. */
async function runShards(
  args: readonly string[],
  option: string,
  n: number,
  name: string,
): Promise<string[]> {
  const paths: string[] = [];
  for (let i = 0; i < n; i++) {
    const path = pathOf(`${name}-${i}-of-${n}.jsonl`);
    expect((await runCli([...args, '--shard', `${i}/${n}`, option, path])).code).toBe(0);
    paths.unshift(path);
  }
  return paths;
}

/** Both have to be named alike, because the card names the file. */
async function compare(args: readonly string[], shards: readonly string[], name: string): Promise<void> {
  const [whole, merged] = ['whole', 'merged'].map((folder) => pathOf(`${folder}-${name}`));
  for (const folder of [whole, merged]) mkdirSync(folder, { recursive: true });
  expect((await runCli([...args, '--output', `${whole}/${name}`])).code).toBe(0);
  const { code } = await runCli(['merge', ...shards, '--output', `${merged}/${name}`]);
  expect(code).toBe(0);
  expect(read(`${merged}/${name}`).equals(read(`${whole}/${name}`))).toBe(true);
  expect(existsSync(`${merged}/README.md`)).toBe(existsSync(`${whole}/README.md`));
  if (existsSync(`${whole}/README.md`))
    expect(read(`${merged}/README.md`).equals(read(`${whole}/README.md`))).toBe(true);
}

describe('dataset grpo', () => {
  // More rows than a row group of Parquet has.
  const GRPO = ['dataset', 'grpo', '--rows', '2100', '--profiles', 'mix', '--steps', '0-3', '--grader', 'v3'];

  it.each([1, 2, 7])(
    'gives the same rows and card from %i shards, as JSON lines and as Parquet',
    async (n) => {
      const shards = await runShards(GRPO, '--output', n, 'grpo');
      await compare(GRPO, shards, 'train.jsonl');
      await compare(GRPO, shards, 'train.parquet');
    },
  );

  it('refuses more shards than rows, and Parquet in a shard', async () => {
    const args = ['dataset', 'grpo', '--rows', '3', '--shard'];
    const many = await runCli([...args, '0/4', '--output', pathOf('x.jsonl')]);
    expect([many.code, many.stderr]).toEqual([
      2,
      expect.stringContaining('one for each of the 3 rows, got 4'),
    ]);
    const table = await runCli([...args, '0/2', '--output', pathOf('x.parquet')]);
    expect([table.code, table.stderr]).toEqual([2, expect.stringContaining('JSON lines with --shard')]);
  });
});

describe('trajectories as Parquet', () => {
  it('of teach are the same', async () => {
    const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '100-104'];
    await compare(args, await runShards(args, '--output', 3, 'teach'), 't.parquet');
  });

  it('of eval are the same', async () => {
    const args = ['eval', '--policies', 'heuristic,random+constant', '--episodes', '4'];
    const shards = await runShards(args, '--trajectories', 2, 'eval');
    const [whole, merged] = ['whole.parquet', 'merged.parquet'].map(pathOf);
    await runCli([...args, '--trajectories', whole]);
    expect((await runCli(['merge', ...shards, '--output', merged])).code).toBe(0);
    expect(read(merged).equals(read(whole))).toBe(true);
  });

  it('is refused for components', async () => {
    const shards = await runShards(['eval', '--episodes', '2'], '--components', 1, 'components');
    const { code, stderr } = await runCli(['merge', ...shards, '--output', pathOf('c.parquet')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('to be JSON, got')]);
  });
});
