/** Shards of `teach`. `merge` gives the bytes of a run without --shard, or lists the problems of the shards. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { startModel } from '../../support/llm.js';

const pathOf = temporaryDirectory();
const SEEDS = ['--seeds', '100-107'];
const POLICY = ['--policy', 'heuristic+inference'];

const teach = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(['teach', ...POLICY, ...args], '', env);
const merge = (shards: readonly string[], output = pathOf('merged.jsonl')) =>
  runCli(['merge', ...shards, '--output', output]);
const manifestOf = (path: string) => `${path}.manifest.json`;
const read = (path: string) => readFileSync(path, 'utf8');

/** Runs all shards of n. @returns the paths of their files. */
async function runShards(n: number, name: string, args: readonly string[] = SEEDS): Promise<string[]> {
  const paths: string[] = [];
  for (let i = 0; i < n; i++) {
    const path = pathOf(`${name}-${i}.jsonl`);
    const { code, stderr } = await teach([...args, '--shard', `${i}/${n}`, '--output', path]);
    expect([code, stderr.endsWith(` in ${path}.\n`)]).toEqual([0, true]);
    paths.push(path);
  }
  return paths;
}

let whole: string;
let shards: string[];
beforeAll(async () => {
  await teach([...SEEDS, '--output', pathOf('whole.jsonl')]);
  whole = read(pathOf('whole.jsonl'));
  shards = await runShards(3, 'part');
}, 120_000);

describe('merge', () => {
  it.each([1, 2, 7])('gives the bytes of a run without --shard from %i shards, reversed', async (n) => {
    const paths = await runShards(n, `of-${n}`);
    const { code, stderr } = await merge([...paths].reverse());
    expect([code, stderr]).toEqual([
      0,
      `8 rows of ${n} shard${n === 1 ? '' : 's'} in ${pathOf('merged.jsonl')}.\n`,
    ]);
    expect(read(pathOf('merged.jsonl'))).toBe(whole);
  });

  it('accepts manifests among its arguments, as a file pattern passes them, and writes to the standard output', async () => {
    const { stdout } = await merge([...shards, ...shards.map(manifestOf)], '-');
    expect(stdout).toBe(whole);
  });

  it('accepts a shard that ran twice', async () => {
    const again = pathOf('again.jsonl');
    await teach([...SEEDS, '--threads', '1', '--shard', '1/3', '--output', again]);
    const { code } = await merge([...shards, again]);
    expect([code, read(pathOf('merged.jsonl'))]).toEqual([0, whole]);
  });
});

describe('problems are listed, and nothing is written:', () => {
  const output = pathOf('none.jsonl');
  const problemsOf = async (paths: readonly string[]): Promise<string[]> => {
    const { code, stderr } = await merge(paths, output);
    const [head, ...problems] = stderr.trimEnd().split('\n');
    expect([code, head]).toEqual([
      1,
      'error: Expected all shards of one job, got these problems. Nothing was written.',
    ]);
    expect(existsSync(output)).toBe(false);
    return problems;
  };

  it('missing shards', async () => {
    expect(await problemsOf([shards[1]])).toEqual([
      '- Expected 3 shards, got 1: shards 0 and 2 are missing.',
    ]);
  });

  it('a changed file, and an incomplete file', async () => {
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
    const problems = await problemsOf([changed, shards[1], cut]);
    expect(problems).toHaveLength(3);
    for (const [k, path] of [changed, cut].entries()) {
      expect(problems[k]).toMatch(
        /^- .*: Expected the SHA-256 [\da-f]{64} and \d+ bytes of its manifest, got/,
      );
      expect(problems[k]).toContain(`- ${path}: `);
    }
    expect(problems[2]).toBe('- Expected 3 shards, got 1: shards 0 and 2 are missing.');
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
    await teach(['--seeds', '100-108', '--grader', 'v3', '--shard', '2/4', '--output', foreign]);
    const [problem] = await problemsOf([...shards, foreign]);
    expect(problem).toContain(
      `- ${foreign}: Expected a shard of the same job as ${shards[0]}, got one of another job: `,
    );
    for (const difference of [
      'grader.name: "v2" and "v3"',
      'options.seeds.last: 107 and 108',
      'shards: 3 and 4',
    ])
      expect(problem).toContain(difference);
  });

  it('two files of one shard with different bytes', async () => {
    const twice = pathOf('twice.jsonl');
    copyFileSync(shards[1], twice);
    appendFileSync(twice, '\n');
    const manifest = JSON.parse(read(manifestOf(shards[1])));
    const { contentsOf } = await import('../../../src/cli/shards/shard-file.js');
    writeFileSync(manifestOf(twice), JSON.stringify({ ...manifest, ...(await contentsOf(twice)) }));
    const problems = await problemsOf([...shards, twice]);
    expect(problems).toEqual([
      `- ${twice}: Expected the same bytes as ${shards[1]}, because both are shard 1/3, got other bytes. Run the shard again, and pass one of its files.`,
    ]);
  });
});

describe('a shard that runs again', () => {
  it('does no work if it is complete', async () => {
    const { mtimeMs } = statSync(shards[0]);
    const { code, stderr } = await teach([...SEEDS, '--output', shards[0], '--shard', 'auto/3'], {
      JOB_COMPLETION_INDEX: '0',
    });
    expect([code, stderr]).toEqual([0, `Shard 0/3 is complete in ${shards[0]}. Nothing to do.\n`]);
    expect(statSync(shards[0]).mtimeMs).toBe(mtimeMs);
  });

  it('is written again if its file was lost or changed', async () => {
    const path = pathOf('lost.jsonl');
    const args = [...SEEDS, '--shard', '1/3', '--output', path];
    await teach(args);
    rmSync(path);
    await teach(args);
    expect(read(path)).toBe(read(shards[1]));
    appendFileSync(path, 'x');
    await teach(args);
    expect(read(path)).toBe(read(shards[1]));
  });

  it('refuses the file of another shard of the job', async () => {
    const { code, stderr } = await teach([...SEEDS, '--shard', '2/3', '--output', shards[0]]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('which has shard 0/3 of the same job')]);
    expect(await merge(shards)).toMatchObject({ code: 0 });
  });

  it('gets a new manifest if another job replaces its file', async () => {
    const path = pathOf('replaced.jsonl');
    await teach([...SEEDS, '--shard', '0/3', '--output', path]);
    await teach(['--seeds', '200-202', '--shard', '0/3', '--output', path]);
    expect(JSON.parse(read(manifestOf(path)))).toMatchObject({ part: 'seeds 200-200', rows: 1 });
  });
});

describe('--shard', () => {
  it('splits the seeds in order into ranges whose sizes differ by at most one', () => {
    const parts = shards.map((path) => JSON.parse(read(manifestOf(path))));
    expect(parts.map(({ part, rows }) => [part, rows])).toEqual([
      ['seeds 100-101', 2],
      ['seeds 102-104', 3],
      ['seeds 105-107', 3],
    ]);
    expect(parts.map(({ bytes }) => bytes)).toEqual(shards.map((path) => statSync(path).size));
  });

  it.each([
    ['4/4', {}, 'Expected an index from 0 to 3, got 4.'],
    ['0', {}, 'Expected i/n or auto/n with n from 1 to 1000000, such as 0/4.'],
    ['0/0', {}, 'Expected i/n or auto/n'],
    ['auto/4', {}, 'Expected JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID in the environment, got neither.'],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '4' }, 'Expected an index from 0 to 3 in SLURM_ARRAY_TASK_ID, got 4.'],
    [
      'auto/4',
      { SLURM_ARRAY_TASK_ID: 'x' },
      'Expected a whole number in SLURM_ARRAY_TASK_ID, got SLURM_ARRAY_TASK_ID=x.',
    ],
    [
      'auto/4',
      { SLURM_ARRAY_TASK_ID: '1', JOB_COMPLETION_INDEX: '2' },
      'Expected one index, got JOB_COMPLETION_INDEX=2 and SLURM_ARRAY_TASK_ID=1.',
    ],
  ])('%s with %j is refused', async (shard, env, message) => {
    const { code, stderr } = await teach([...SEEDS, '--output', pathOf('x.jsonl'), '--shard', shard], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('takes the index from both variables if they agree', async () => {
    const env = { SLURM_ARRAY_TASK_ID: '1', JOB_COMPLETION_INDEX: '1' };
    await teach([...SEEDS, '--shard', 'auto/3', '--output', pathOf('auto.jsonl')], env);
    expect(read(pathOf('auto.jsonl'))).toBe(read(shards[1]));
  });

  it('refuses more shards than seeds, and an output without a place for the manifest', async () => {
    const many = await teach(['--seeds', '100-101', '--shard', '0/3', '--output', pathOf('x.jsonl')]);
    expect([many.code, many.stderr]).toEqual([
      2,
      expect.stringContaining('Divide the job into fewer shards.'),
    ]);
    const stdout = await teach([...SEEDS, '--shard', '0/3', '--output', '-']);
    expect([stdout.code, stdout.stderr]).toEqual([2, expect.stringContaining('Name a file.')]);
  });
});

describe('with a language model, teach --shard', () => {
  it('gives the bytes of a run without --shard, and sends no more requests for a finished shard', async () => {
    const fake = await startModel();
    const run = (...args: string[]) =>
      runCli(['teach', '--policy', 'llm:fake', '--seeds', '100-102', ...args], '', fake.environment);
    await run('--output', pathOf('llm.jsonl'));
    const paths = [0, 1].map((i) => pathOf(`llm-${i}.jsonl`));
    for (const [i, path] of paths.entries()) await run('--shard', `${i}/2`, '--output', path);
    const before = fake.billed.length;
    expect((await run('--shard', '1/2', '--output', paths[1])).stderr).toContain('Nothing to do.');
    expect(fake.billed.length).toBe(before);
    expect((await merge(paths)).code).toBe(0);
    expect(read(pathOf('merged.jsonl'))).toBe(read(pathOf('llm.jsonl')));
  });

  it('refuses a file with episodes of other seeds', async () => {
    const fake = await startModel();
    const run = (...args: string[]) =>
      runCli(
        ['teach', '--policy', 'llm:fake', '--output', pathOf('mixed.jsonl'), ...args],
        '',
        fake.environment,
      );
    await run('--seeds', '100-100');
    const { code, stderr } = await run('--seeds', '101-102', '--shard', '0/2');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('to hold episodes of this shard alone, got 1 other'),
    ]);
  });
});
