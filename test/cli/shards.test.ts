/** Shards. `merge` gives the bytes of a run without --shard, or lists the problems of the shards. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Outputs } from '../../src/cli/files/output-file.js';
import { shardConditions } from '../../src/cli/shards/shard.js';
import { contentsOf } from '../../src/cli/shards/shard-file.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { selectConditions } from '../../src/world/conditions.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { type CommandResult, runCli, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';
import { range } from '../support/sft.js';
import { changedAt, episodeStarts, playerOf, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const read = (path: string) => readFileSync(path, 'utf8');
const manifestOf = (path: string) => `${path}.manifest.json`;
const merge = (shards: readonly string[], output = pathOf('merged.jsonl'), ...more: string[]) =>
  runCli(['merge', ...shards, '--output', output, ...more]);

const RUNS = new Map<string, Promise<string[]>>();
/** Runs all n shards of a command, once. @param option takes the path of a shard. @returns the paths, the last one first. */
function runShards(
  args: readonly string[],
  option: string,
  n: number,
  env: Record<string, string> = {},
): Promise<string[]> {
  const key = [...args, option, n].join(' ');
  if (!RUNS.has(key)) RUNS.set(key, startShards(args, option, n, env));
  return RUNS.get(key)!;
}

async function startShards(args: readonly string[], option: string, n: number, env: Record<string, string>) {
  const folder = pathOf(`shards-${readdirSync(pathOf('')).length}`);
  mkdirSync(folder);
  const paths = Array.from({ length: n }, (_, i) => `${folder}/${i}.jsonl`);
  for (const [i, path] of paths.entries()) {
    const { code, stderr } = await runCli([...args, '--shard', `${i}/${n}`, option, path], '', env);
    expect(code, stderr).toBe(0);
  }
  return paths.reverse();
}

const [heuristic, same, mine] = ['heuristic.jsonl', 'same.jsonl', 'mine.mjs'].map(pathOf);

/** Writes episodes of two players on the same seeds, with bad lines, a blank line, repeated episodes and no last line end. */
beforeAll(() => {
  writeFileSync(mine, 'export default ({ steps }) => ({ actions: steps.map((step) => step % 7) })');
  // The first four seeds are kept for evaluation, so their episodes are left out.
  const seeds = range(96, 125);
  const first = recordEpisodes(episodeStarts(seeds), { player: playerOf({ model: 'm' }) });
  const second = recordEpisodes(episodeStarts(seeds), {
    player: playerOf({ model: 'n' }),
    policy: ({ prompt }) => ({ prompt, completion: `5 5 5 ${ACTION_NAMES[9].toUpperCase()}` }),
  });
  const wrong = changedAt(first[9], 'final.progress', 0.123);
  const lines = [...first.slice(0, 9), wrong, ...first.slice(10)].map(episodeLine);
  writeFileSync(heuristic, [...lines.slice(0, 12), 'no episode\n', '\n', ...lines.slice(12)].join(''));
  writeFileSync(same, [...second, first[20], second[3]].map(episodeLine).join('').trimEnd());
});

const TEACH = 'teach --policy reactive+constant --seeds 100-107';
/** The condition custom shares seed 2 with in-distribution; discrete has the episodes of the named profiles. */
const EVAL = `eval --conditions in-distribution,discrete,custom --seeds 2-9 --episodes 3 --policies random+constant,${mine},${mine}+inference,heuristic`;
// More rows than a row group of Parquet has.
const GRPO = 'dataset grpo --rows 2100 --profiles mix --steps 0-3 --grader v3';
const SFT = `dataset sft --objective none --min-score 0.1 --jsonl ${heuristic} ${same}`;
const DPO = `dataset dpo --all-pairs --by return --jsonl ${heuristic} ${same}`;
const EVALUATED = { '--trajectories': 't.jsonl', '--json': 'e.json' };

/** Commands, numbers of shards, the outputs by option (the first is that of `merge --output`), and the messages that are equal. */
const SHARDED: [args: string, n: number, outputs: object, messages?: 'stdout' | 'stderr'][] = [
  [TEACH, 7, { '--output': 't.jsonl' }],
  [TEACH, 3, { '--output': 't.parquet' }],
  [EVAL, 4, EVALUATED, 'stdout'],
  [EVAL, 4, { '--trajectories': 't.parquet' }],
  [GRPO, 1, { '--output': 'train.jsonl' }],
  [GRPO, 7, { '--output': 'train.parquet' }],
  [SFT, 1, { '--output': 'set' }, 'stderr'],
  [SFT, 3, { '--output': 'set', '--format': 'parquet' }, 'stderr'],
  [`${SFT} --skip-bad`, 2, { '--output': 'set' }, 'stderr'],
  [DPO, 2, { '--output': 'set', '--format': 'parquet' }, 'stderr'],
  [DPO, 3, { '--output': 'set' }, 'stderr'],
];

const withoutSeconds = (text: string) =>
  text.replace(/("seconds": |episodes in )[\d.e-]+|^[\d.]+ s\.$/m, '$1');

/** Returns the contents of all files of a folder, by name. */
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, withoutSeconds(readFileSync(join(folder, name), 'latin1'))]),
  );

describe('merge gives the files of a run without --shard', () => {
  it.each(SHARDED)('of %s from %i shards: %j', async (line, n, outputs, messages) => {
    const args = line.split(' ');
    const [[option], ...others] = Object.entries(outputs);
    const shards = await runShards(args, option, n);
    const folder = `${shards[0]}.folder`;
    for (const side of ['whole', 'merged']) mkdirSync(`${folder}/${side}`, { recursive: true });
    const optionsOf = (side: string) =>
      Object.entries(outputs).flatMap(([name, value]) => [
        side === 'merged' && name === option ? '--output' : name,
        name === '--format' ? value : `${folder}/${side}/${value}`,
      ]);
    const whole = await runCli([...args, ...optionsOf('whole')]);
    const merged = await runCli(['merge', ...shards, ...optionsOf('merged')]);
    expect(filesOf(`${folder}/merged`)).toEqual(filesOf(`${folder}/whole`));
    expect(Object.keys(filesOf(`${folder}/merged`)).length).toBeGreaterThan(others.length - 1);
    const isBad = line.startsWith('dataset') && messages === 'stderr' && !line.endsWith('--skip-bad');
    expect([whole.code, merged.code]).toEqual(isBad ? [1, 1] : [0, 0]);
    if (messages === undefined) return;
    const text = (result: CommandResult, side: string) =>
      withoutSeconds(result[messages])
        .replaceAll(`/${side}/`, '/')
        .replaceAll(`${pathOf('')}/`, '');
    expect(text(merged, 'merged')).toBe(text(whole, 'whole'));
  });

  it('or no file, if one of the merged files cannot be completed', async () => {
    const shards = await runShards(EVAL.split(' '), '--trajectories', 4);
    const [trajectories, json] = ['t', 'j'].map((name) => pathOf(`blocked-${name}`));
    const { open } = Outputs.prototype;
    const spy = vi.spyOn(Outputs.prototype, 'open').mockImplementation(function (this: Outputs, path) {
      if (path === json) mkdirSync(trajectories);
      return open.call(this, path);
    });
    const merged = merge(shards, trajectories, '--json', json);
    const { code, stderr } = await merged.finally(() => spy.mockRestore());
    expect([code, stderr]).toEqual([2, expect.stringContaining('blocked-t to be a file, got a directory')]);
    expect(existsSync(json)).toBe(false);
  });
});

describe('shards of teach', () => {
  const args = TEACH.split(' ');
  const teach = (shard: string, output: string, ...more: string[]) =>
    runCli([...args, '--shard', shard, '--output', output, ...more]);
  let whole: string;
  let shards: string[];
  beforeAll(async () => {
    await runCli([...args, '--output', pathOf('whole.jsonl')]);
    whole = read(pathOf('whole.jsonl'));
    shards = [...(await runShards(args, '--output', 3))].reverse();
  }, 120_000);

  it('have the seeds in order, in ranges whose sizes differ by at most one', () => {
    const parts = shards.map((path) => JSON.parse(read(manifestOf(path))));
    expect(parts.map(({ part, rows }) => [part, rows])).toEqual([
      ['seeds 100-101', 2],
      ['seeds 102-104', 3],
      ['seeds 105-107', 3],
    ]);
    expect(parts.map(({ bytes }) => bytes)).toEqual(shards.map((path) => statSync(path).size));
  });

  it('may be named with their manifests, as a file pattern does, and twice; the index may come from the environment', async () => {
    expect((await merge([...shards, ...shards.map(manifestOf)], '-')).stdout).toBe(whole);
    const again = pathOf('again.jsonl');
    const env = { SLURM_ARRAY_TASK_ID: '1', JOB_COMPLETION_INDEX: '1' };
    await runCli([...args, '--threads', '1', '--shard', 'auto/3', '--output', again], '', env);
    const { code, stderr } = await merge([...shards, again]);
    expect([code, stderr]).toEqual([0, `8 rows of 3 shards in ${pathOf('merged.jsonl')}.\n`]);
    expect(read(pathOf('merged.jsonl'))).toBe(whole);
  });

  describe('whose problems merge lists, without writing:', () => {
    const problemsOf = async (paths: readonly string[]): Promise<string[]> => {
      const { code, stderr } = await merge(paths, pathOf('none.jsonl'));
      const [head, ...problems] = stderr.trimEnd().split('\n');
      const expected = 'error: Expected all shards of one job, got these problems. Nothing was written.';
      expect([code, head, existsSync(pathOf('none.jsonl'))]).toEqual([1, expected, false]);
      return problems;
    };

    it('a changed file, an incomplete file, and missing shards', async () => {
      const [changed, cut] = [pathOf('changed.jsonl'), pathOf('cut.jsonl')];
      for (const [path, from] of [
        [changed, shards[0]],
        [cut, shards[2]],
      ]) {
        copyFileSync(from, path);
        copyFileSync(manifestOf(from), manifestOf(path));
      }
      writeFileSync(changed, read(changed).replace('"seed":100', '"seed":101'));
      writeFileSync(cut, read(cut).slice(0, -100));
      const problem = expect.stringMatching(
        /: Expected the SHA-256 [\da-f]{64} and \d+ bytes of its manifest, got/,
      );
      const problems = await problemsOf([changed, shards[1], cut]);
      expect(problems).toEqual([
        ...[problem, problem],
        '- Expected 3 shards, got 1: shards 0 and 2 are missing.',
      ]);
      for (const [k, path] of [changed, cut].entries()) expect(problems[k]).toContain(`- ${path}: `);
    });

    it('a file without a manifest, a changed manifest, and a manifest of other JSON', async () => {
      const [bare, edited, other] = ['bare', 'edited', 'other'].map((name) => pathOf(`${name}.jsonl`));
      for (const path of [bare, edited, other]) copyFileSync(shards[0], path);
      writeFileSync(manifestOf(edited), read(manifestOf(shards[0])).replace('"first": 100', '"first": 99'));
      writeFileSync(manifestOf(other), '{"seed":5}');
      const problems = await problemsOf([bare, edited, other, ...shards]);
      expect(problems[0]).toContain(`${bare}: Expected its manifest ${manifestOf(bare)}, got none.`);
      expect(problems[1]).toContain(`${manifestOf(edited)}: job_digest: Expected `);
      expect(problems[2]).toContain(`${manifestOf(other)}: schema: Expected "rhythm-vec/shard" version 1`);
    });

    it('shards of another job or number of shards, with the difference', async () => {
      const foreign = pathOf('foreign.jsonl');
      await teach('2/4', foreign, '--seeds', '100-108', '--grader', 'v3');
      const [problem] = await problemsOf([...shards, foreign]);
      expect(problem).toContain(
        `- ${foreign}: Expected a shard of the same job as ${shards[0]}, got one of another job: `,
      );
      const differences = [
        'grader.name: "v2" and "v3"',
        'options.seeds.last: 107 and 108',
        'shards: 3 and 4',
      ];
      for (const difference of differences) expect(problem).toContain(difference);
    });

    it('two files of one shard with different bytes', async () => {
      const twice = pathOf('twice.jsonl');
      copyFileSync(shards[1], twice);
      appendFileSync(twice, '\n');
      const manifest = JSON.parse(read(manifestOf(shards[1])));
      writeFileSync(manifestOf(twice), JSON.stringify({ ...manifest, ...(await contentsOf(twice)) }));
      expect(await problemsOf([...shards, twice])).toEqual([
        `- ${twice}: Expected the same bytes as ${shards[1]}, because both are shard 1/3, got other bytes. Run the shard again, and pass one of its files.`,
      ]);
    });
  });

  it('that are complete do no work when they run again; lost, changed and replaced files are written again', async () => {
    const { mtimeMs } = statSync(shards[0]);
    const { code, stderr } = await teach('0/3', shards[0]);
    expect([code, stderr]).toEqual([0, `Shard 0/3 is complete in ${shards[0]}. Nothing to do.\n`]);
    expect(statSync(shards[0]).mtimeMs).toBe(mtimeMs);
    const path = pathOf('lost.jsonl');
    for (const change of [() => {}, () => rmSync(path), () => appendFileSync(path, 'x')]) {
      change();
      await teach('1/3', path);
      expect(read(path)).toBe(read(shards[1]));
    }
    await teach('0/3', path, '--seeds', '200-202');
    expect(JSON.parse(read(manifestOf(path)))).toMatchObject({ part: 'seeds 200-200', rows: 1 });
    const refused = await teach('2/3', shards[0]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('which has shard 0/3 of the same job'),
    ]);
    expect(await merge(shards)).toMatchObject({ code: 0 });
  });

  it('have no results for merge --json', async () => {
    const json = await merge(shards, pathOf('no'), '--json', pathOf('no.json'));
    expect([json.code, json.stderr]).toEqual([2, expect.stringContaining('no --json with shards of teach')]);
  });
});

it.each([
  [
    'eval --episodes 2 --policies',
    pathOf('changing.mjs'),
    '--trajectories',
    'options.policy_files.changing: ',
  ],
  ['dataset sft --objective none --jsonl', pathOf('changing.jsonl'), '--output', 'options.files'],
])('merge refuses shards of %s %s that was changed between them', async (line, input, option, message) => {
  copyFileSync(input.endsWith('.mjs') ? mine : same, input);
  const shards = ['0/2', '1/2'].map((part) => ({ part, path: `${input}.${part[0]}.jsonl` }));
  for (const { part, path } of shards) {
    const { code } = await runCli([...line.split(' '), input, '--shard', part, option, path]);
    expect(code).toBe(0);
    appendFileSync(input, '\n');
  }
  const { code, stderr } = await merge(
    shards.map(({ path }) => path),
    pathOf('changed'),
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  expect(existsSync(pathOf('changed'))).toBe(false);
});

describe('with a language model,', () => {
  it('eval --shard gives the same files, and pays for each episode once', async () => {
    const fake = await startModel();
    const args =
      'eval --conditions in-distribution,custom --seeds 1-2 --episodes 2 --policies heuristic,llm:fake --prices 2.5,10'.split(
        ' ',
      );
    const [trajectories, json] = [pathOf('llm.jsonl'), pathOf('llm.json')];
    const outputs = ['--trajectories', trajectories, '--json', json];
    const { stdout } = await runCli([...args, ...outputs], '', fake.environment);
    const paid = fake.billed.length;
    const shards = await runShards(args, '--trajectories', 3, fake.environment);
    const merged = await merge(shards, `${trajectories}.merged`, '--json', `${json}.merged`);
    // The run without shards paid once, and the three shards together paid once.
    expect(fake.billed.length).toBe(2 * paid);
    expect(read(`${trajectories}.merged`)).toBe(read(trajectories));
    expect(withoutSeconds(read(`${json}.merged`))).toBe(withoutSeconds(read(json)));
    // Before the verdict, eval has lines about the model's requests. merge sends none, so it prints no such lines.
    const table = stdout.replace(/\nllm:fake: .*?\n(?=\nVerdict)/s, '\n');
    expect(withoutSeconds(merged.stdout)).toBe(withoutSeconds(table));
  });

  it.each([
    ['eval --policies', '--trajectories', 'to hold only the 1 episode of this shard, got 2 episodes.'],
    ['teach --policy', '--output', 'to hold episodes of this shard alone, got 1 other'],
  ])('a shard of %s refuses a file that also has other episodes', async (line, option, message) => {
    const fake = await startModel();
    const path = pathOf(`mixed${option}.jsonl`);
    const run = (...more: string[]) =>
      runCli([...line.split(' '), 'llm:fake', option, path, ...more], '', fake.environment);
    await run('--seeds', '105-105');
    const { code, stderr } = await run('--seeds', '106-107', '--shard', '0/2');
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(manifestOf(path))).toBe(false);
  });
});

it('shardConditions puts each episode into one shard; the sizes of the shards differ by at most one', () => {
  const conditions = selectConditions({
    conditions: ['in-distribution', 'ood', 'discrete', 'custom'],
    seeds: { first: 90, last: 10020 },
  });
  const keysOf = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const parts = shardConditions(conditions, { index, count }).flatMap((condition) => condition.parts);
      return new Set(
        parts.flatMap(({ profile, seeds: { first, last } }) =>
          range(first, last).map((seed) => `${profile} ${seed}`),
        ),
      );
    });
  const [all] = keysOf(1);
  // The seeds 0 to 10049 of sampled profiles, and 5 of each named profile.
  expect(all.size).toBe(10050 + 15);
  for (const count of [2, 7, 100]) {
    const shards = keysOf(count);
    const sizes = shards.map(({ size }) => size);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(all.size);
    expect(new Set(shards.flatMap((keys) => [...keys]))).toEqual(all);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  }
});
