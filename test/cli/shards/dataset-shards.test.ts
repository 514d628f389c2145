/** Merged shards of datasets, and of trajectories as Parquet, have the bytes of a run without --shard. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { episodeLine } from '../../../src/rollouts/trajectories/write-line.js';
import { ACTION_NAMES } from '../../../src/world/fields.js';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { changedAt, episodeStarts, playerOf, recordEpisodes } from '../../support/trajectories.js';

const pathOf = temporaryDirectory();
const read = (path: string) => readFileSync(path);

/** Runs all n shards. @returns the paths of their files, the last one first. */
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

/** Compares a merge with a run without --shard. Both outputs have the same name, because the card names the file. */
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

describe('dataset sft and dpo', () => {
  const inputs = [pathOf('heuristic.jsonl'), pathOf('same.jsonl')];
  // The first four seeds are kept for evaluation, so their episodes are left out.
  const seeds = Array.from({ length: 30 }, (_, i) => 96 + i);
  const SFT = ['sft', '--objective', 'none', '--min-score', '0.1'];
  const DPO = ['dpo', '--all-pairs', '--by', 'return'];

  /** Writes episodes of two players on the same seeds, with bad lines, a blank line, repeated episodes and no last line end. */
  beforeAll(() => {
    const heuristic = recordEpisodes(episodeStarts(seeds), { player: playerOf({ model: 'm' }) });
    const same = recordEpisodes(episodeStarts(seeds), {
      player: playerOf({ model: 'n' }),
      policy: ({ prompt }) => ({ prompt, completion: `5 5 5 ${ACTION_NAMES[9].toUpperCase()}` }),
    });
    const wrong = changedAt(heuristic[9], 'final.progress', 0.123);
    const lines = [...heuristic.slice(0, 9), wrong, ...heuristic.slice(10)].map(episodeLine);
    writeFileSync(inputs[0], [...lines.slice(0, 12), 'no episode\n', '\n', ...lines.slice(12)].join(''));
    const repeated = [...same, heuristic[20], same[3]].map(episodeLine).join('');
    writeFileSync(inputs[1], repeated.trimEnd());
  });

  /** Returns the contents of a folder's files, by name. */
  const filesOf = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, read(`${folder}/${name}`).toString('hex')]));

  it.each([
    [1, SFT, 'jsonl'],
    [2, SFT, 'parquet'],
    [3, SFT, 'jsonl'],
    [1, DPO, 'parquet'],
    [3, DPO, 'jsonl'],
  ])(
    'gives the same directory, messages and exit code from %i shards of %j as %s',
    async (n, kind, format) => {
      const args = ['dataset', ...kind, '--jsonl', ...inputs];
      const shards = await runShards(args, '--output', n, `${kind[0]}-${format}`);
      const [whole, merged] = ['whole', 'merged'].map((side) => pathOf(`${side}-${kind[0]}-${format}-${n}`));
      for (const side of [whole, merged]) mkdirSync(side);
      const first = await runCli([...args, '--output', `${whole}/set`, '--format', format]);
      const second = await runCli(['merge', ...shards, '--output', `${merged}/set`, '--format', format]);
      expect(filesOf(`${merged}/set`)).toEqual(filesOf(`${whole}/set`));
      expect(Object.keys(filesOf(`${merged}/set`))).toHaveLength(3);
      const messages = ({ stderr }: { stderr: string }) =>
        stderr
          .replaceAll(`${pathOf('')}/`, '')
          .replaceAll(pathOf(''), '')
          .replace(/(whole|merged)-/g, '');
      expect([second.code, messages(second)]).toEqual([first.code, messages(first)]);
      expect(first.code).toBe(1);
    },
  );

  it('exits with 0 with --skip-bad, also if the directory exists already', async () => {
    const args = ['dataset', ...SFT, '--skip-bad', '--jsonl', ...inputs];
    const shards = await runShards(args, '--output', 2, 'skip');
    for (let k = 0; k < 2; k++)
      expect((await runCli(['merge', ...shards, '--output', pathOf('skip-bad')])).code).toBe(0);
  });

  it('refuses shards of changed inputs, and writes nothing', async () => {
    const input = pathOf('changing.jsonl');
    copyFileSync(inputs[1], input);
    const args = ['dataset', ...SFT, '--jsonl', input];
    const [path0, path1] = [0, 1].map((i) => pathOf(`changed-${i}.jsonl`));
    expect((await runCli([...args, '--shard', '0/2', '--output', path0])).code).toBe(0);
    appendFileSync(input, '\n');
    expect((await runCli([...args, '--shard', '1/2', '--output', path1])).code).toBe(0);
    const { code, stderr } = await runCli(['merge', path0, path1, '--output', pathOf('changed')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('options.files')]);
    expect(existsSync(pathOf('changed'))).toBe(false);
  });

  it('refuses the standard input, more shards than lines, and a directory as the output of a shard', async () => {
    const shard = (input: string, part: string, output: string) =>
      runCli(['dataset', ...SFT, '--jsonl', input, '--shard', part, '--output', output]);
    const results = [
      await shard('-', '0/2', pathOf('x.jsonl')),
      await shard(inputs[0], '0/99', pathOf('x.jsonl')),
      await shard(inputs[0], '0/2', pathOf('')),
    ];
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(results[0].stderr).toContain('JSON lines with --shard, got the standard input');
    expect(results[1].stderr).toContain('one for each of the 32 lines of --jsonl, got 99');
    expect(results[2].stderr).toContain('to be a file with --shard');
  });
});

describe('merged Parquet', () => {
  it('of trajectories of teach has the bytes of a run without --shard', async () => {
    const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '100-104'];
    await compare(args, await runShards(args, '--output', 3, 'teach'), 't.parquet');
  });

  it('of trajectories of eval has the bytes of a run without --shard', async () => {
    const args = ['eval', '--policies', 'heuristic,random+constant', '--episodes', '4'];
    const shards = await runShards(args, '--trajectories', 2, 'eval');
    const [whole, merged] = ['whole.parquet', 'merged.parquet'].map(pathOf);
    await runCli([...args, '--trajectories', whole]);
    expect((await runCli(['merge', ...shards, '--output', merged])).code).toBe(0);
    expect(read(merged).equals(read(whole))).toBe(true);
  });

  it('of components is refused', async () => {
    const shards = await runShards(['eval', '--episodes', '2'], '--components', 1, 'components');
    const { code, stderr } = await runCli(['merge', ...shards, '--output', pathOf('c.parquet')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('to be JSON for these shards, got')]);
  });
});
