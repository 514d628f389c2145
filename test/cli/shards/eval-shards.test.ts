/** Shards of `eval`. Merged, they have the trajectories, components, tables and JSON of a run without --shard. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Outputs } from '../../../src/cli/files/output-file.js';
import { shardConditions } from '../../../src/server/jobs/shard-conditions.js';
import { selectConditions } from '../../../src/world/conditions.js';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { startModel } from '../../support/llm.js';

const pathOf = temporaryDirectory();
const read = (path: string) => readFileSync(path, 'utf8');
/** The condition custom shares seed 2 with in-distribution; discrete has the episodes of the named profiles. */
const CONDITIONS = ['--conditions', 'in-distribution,discrete,custom', '--seeds', '2-9', '--episodes', '3'];
const WALL_SECONDS = /("seconds": |episodes in )[\d.e-]+/;
const withoutSeconds = (text: string) => text.replace(WALL_SECONDS, '$1');

/** Runs all n shards. @param option the option that takes the path of a shard. @returns the paths of the shards. */
async function runShards(
  n: number,
  option: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string[]> {
  const paths = Array.from({ length: n }, (_, i) => pathOf(`${option.slice(2)}-${i}-of-${n}.jsonl`));
  for (const [i, path] of paths.entries()) {
    const shard = ['--shard', `${i}/${n}`, option, path];
    const { code, stdout } = await runCli(['eval', ...args, ...shard], '', env);
    expect([code, stdout]).toEqual([0, '']);
  }
  return paths;
}

describe('policies', () => {
  const mine = pathOf('mine.mjs');
  const policies = ['random+constant', mine, `${mine}+inference`, 'heuristic'];
  const args = [...CONDITIONS, '--policies', policies.join(',')];
  const whole = { trajectories: pathOf('t.jsonl'), components: pathOf('c.jsonl'), json: pathOf('e.json') };
  let table: string;
  beforeAll(async () => {
    writeFileSync(mine, 'export default ({ steps }) => ({ actions: steps.map((step) => step % 7) })');
    const outputs = Object.entries(whole).flatMap(([name, path]) => [`--${name}`, path]);
    table = (await runCli(['eval', ...args, ...outputs])).stdout;
  }, 120_000);

  it.each([1, 7])('give the same files from %i shards of trajectories', async (n) => {
    const shards = await runShards(n, '--trajectories', args);
    const [trajectories, components, json] = ['t', 'c', 'j'].map((name) => pathOf(`merged-${name}`));
    const { code, stdout } = await runCli([
      'merge',
      ...[...shards].reverse(),
      '--output',
      trajectories,
      '--components',
      components,
      '--json',
      json,
    ]);
    expect([code, withoutSeconds(stdout)]).toEqual([0, withoutSeconds(table)]);
    expect(read(trajectories)).toBe(read(whole.trajectories));
    expect(read(components)).toBe(read(whole.components));
    expect(withoutSeconds(read(json))).toBe(withoutSeconds(read(whole.json)));
  });

  it('give no file if one of the merged files cannot be completed', async () => {
    const shards = await runShards(1, '--trajectories', args);
    const [trajectories, components, json] = ['t', 'c', 'j'].map((name) => pathOf(`blocked-${name}`));
    const { open } = Outputs.prototype;
    const spy = vi.spyOn(Outputs.prototype, 'open').mockImplementation(function (this: Outputs, path) {
      if (path === json) mkdirSync(trajectories);
      return open.call(this, path);
    });
    const outputs = ['--output', trajectories, '--components', components, '--json', json];
    const { code, stderr } = await runCli(['merge', ...shards, ...outputs]).finally(() => spy.mockRestore());
    expect([code, stderr]).toEqual([2, expect.stringContaining('blocked-t to be a file, got a directory')]);
    expect([components, json].filter((path) => existsSync(path))).toEqual([]);
  });

  it.each([2, 3])('give the same files from %i shards of components', async (n) => {
    const shards = await runShards(n, '--components', args);
    const [components, json] = ['c', 'j'].map((name) => pathOf(`merged-${name}`));
    const { code, stdout } = await runCli(['merge', ...shards, '--output', components, '--json', json]);
    expect([code, withoutSeconds(stdout)]).toEqual([0, withoutSeconds(table)]);
    expect(read(components)).toBe(read(whole.components));
    expect(withoutSeconds(read(json))).toBe(withoutSeconds(read(whole.json)));
  });

  it('from a file that was changed between two shards are refused by merge', async () => {
    const shards = await runShards(2, '--components', args);
    writeFileSync(mine, 'export default ({ steps }) => ({ actions: steps.map(() => 3) })');
    const again = ['--shard', '1/2', '--components', pathOf('other.jsonl')];
    await runCli(['eval', ...args, ...again]);
    const { code, stderr } = await runCli([
      'merge',
      shards[0],
      pathOf('other.jsonl'),
      '--output',
      pathOf('no'),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('options.policy_files.mine: ');
  });
});

describe('with a language model, eval --shard', () => {
  it('gives the same files, and pays for each episode once', async () => {
    const fake = await startModel();
    const conditions = ['--conditions', 'in-distribution,custom', '--seeds', '1-2', '--episodes', '2'];
    const args = [...conditions, '--policies', 'heuristic,llm:fake', '--prices', '2.5,10'];
    const json = pathOf('llm.json');
    const outputs = ['--trajectories', pathOf('llm.jsonl'), '--json', json];
    const { stdout } = await runCli(['eval', ...args, ...outputs], '', fake.environment);
    const paid = fake.billed.length;
    const shards = await runShards(3, '--trajectories', args, fake.environment);
    // The run without shards paid once, and the three shards together paid once.
    expect(fake.billed.length).toBe(2 * paid);
    const merged = await runCli([
      'merge',
      ...shards,
      '--output',
      pathOf('llm-m.jsonl'),
      '--json',
      pathOf('llm-m.json'),
    ]);
    expect(fake.billed.length).toBe(2 * paid);
    expect(read(pathOf('llm-m.jsonl'))).toBe(read(pathOf('llm.jsonl')));
    expect(withoutSeconds(read(pathOf('llm-m.json')))).toBe(withoutSeconds(read(json)));
    // eval ends with lines about the model's requests. merge sends no requests, so it prints no such lines.
    const table = stdout.slice(0, stdout.lastIndexOf('llm:fake: '));
    expect(withoutSeconds(merged.stdout)).toBe(withoutSeconds(table));
  });

  it('refuses a file that also has other episodes', async () => {
    const fake = await startModel();
    const args = ['eval', '--policies', 'llm:fake', '--trajectories', pathOf('mixed.jsonl')];
    const run = (...more: string[]) => runCli([...args, ...more], '', fake.environment);
    await run('--seeds', '5-5');
    const { code, stderr } = await run('--seeds', '6-7', '--shard', '0/2');
    const message = 'to hold only the 1 episode of this shard, got 2 episodes.';
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(`${pathOf('mixed.jsonl')}.manifest.json`)).toBe(false);
  });

  it('requires --trajectories, because they keep the answers', async () => {
    const args = ['eval', '--policies', 'llm:fake', '--shard', '0/2', '--components', pathOf('x')];
    expect(await runCli(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Expected --trajectories'),
    });
  });
});

describe('invalid options with shards', () => {
  const shard = ['eval', '--episodes', '2', '--shard', '0/2'];
  it.each([
    [[...shard], 'Expected either --trajectories or --components with --shard, got neither.'],
    [[...shard, '--trajectories', 'a', '--components', 'b'], 'got both.'],
    [
      [...shard, '--components', 'a', '--json', 'b'],
      'Expected no --json with --shard, got b. Pass --json to merge.',
    ],
    [[...shard, '--components', '-'], 'The manifest is written beside it.'],
    [
      ['eval', '--seeds', '0-4', '--components', pathOf('x'), '--shard', '0/6'],
      'Expected at most 5 shards, one for each of the 5 episodes of a policy, got 6.',
    ],
  ])('are refused: %j', async (args, message) => {
    expect(await runCli(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('are refused: merge --json with shards of teach', async () => {
    const part = pathOf('teach.jsonl');
    await runCli([
      'teach',
      '--policy',
      'heuristic+inference',
      '--seeds',
      '5-5',
      '--shard',
      '0/1',
      '--output',
      part,
    ]);
    const { code, stderr } = await runCli([
      'merge',
      part,
      '--output',
      pathOf('no'),
      '--json',
      pathOf('no.json'),
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Expected no --json with shards of teach')]);
  });
});

describe('shardConditions', () => {
  it('puts each episode into one shard; the sizes of the shards differ by at most one', () => {
    const conditions = selectConditions({
      conditions: ['in-distribution', 'ood', 'discrete', 'custom'],
      seeds: { first: 90, last: 10020 },
    });
    const keysOf = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        const parts = shardConditions(conditions, { index, count }).flatMap((condition) => condition.parts);
        return new Set(
          parts.flatMap(({ profile, seeds: { first, last } }) =>
            Array.from({ length: last - first + 1 }, (_, i) => `${profile} ${first + i}`),
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
});
