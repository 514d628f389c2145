/** `rhythm-vec eval`: its options, its table, and trajectories that `reeval` replays as recorded. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createVecEnv, graderWeights, validateGrader } from '../../src/index.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { NATIVE } from '../support/engines.js';
import { tables } from '../support/golden.js';

const pathOf = temporaryDirectory();
const leftovers = () => readdirSync(pathOf('')).filter((name) => name.endsWith('.tmp'));
const results = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));
/** Environment variables that hide the addon, as on a machine without a compiler. */
const WITHOUT_ADDON = { RHYTHM_ADDON: '/nowhere/rhythm.node', RHYTHM_KERNEL: '' };

describe('eval', () => {
  it('prints the table and writes the golden numbers', async () => {
    const { code, stdout, stderr } = await runCli(['eval', '--details', '--json', pathOf('all.json')]);
    expect([code, stderr]).toEqual([0, '']);
    using env = createVecEnv({ numEnvs: 1 });
    expect(stdout).toContain(`backend ${env.backend}`);
    expect(stdout).toContain(env.world.digest.slice(0, 12));
    expect(stdout).toMatch(/heuristic +0\.447 ±0\.009 +0\.449 +0\.284 ±0\.014 +0\.205/);
    expect(stdout).toMatch(/heuristic\+constant +0\.606 ±0\.009 +- /);
    expect(stdout).toContain('Yardstick under v2: in-distribution 0.771 (planner-prior)');
    const { rows, ...provenance } = results('all.json');
    expect(Object.keys(provenance).sort()).toEqual(
      [
        ...['schema', 'version', 'world_digest', 'backend', 'kernel', 'threads', 'device', 'machine'],
        ...['grader', 'grader_weights', 'seconds', 'brackets', 'yardsticks'],
      ].sort(),
    );
    // Six policies under six conditions: in-distribution, ood, the three named profiles, and these three together.
    expect(rows).toHaveLength(36);
    expect(rows[0].verdict).toMatchObject({ reference: 'planner-prior', missing: [] });
    expect(Object.keys(rows[0].verdict.difference)).toEqual(['mean', 'low', 'high']);
    for (const row of rows) {
      const golden = tables[`${row.condition}/${row.policy}/${row.belief}/v2`];
      if (golden) expect(row.digest).toBe(golden.digest);
    }
  });

  it('applies options of policies, conditions, grader and backend together', async () => {
    const { code, stdout } = await runCli([
      ...['eval', '--policies', 'random, heuristic', '--conditions', 'ood,custom', '--seeds', '7-30'],
      ...['--episodes', '12', '--profiles', 'workaholic_stoic', '--grader', 'v1'],
      ...['--backend', 'reference', '--threads', '2', '--details', '--json', pathOf('flags.json')],
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('backend reference, 1 thread; grader v1');
    expect(stdout).toContain('custom: seeds 7-18, 12 episodes, profiles workaholic_stoic');
    expect(stdout).toContain('Yardstick under v1, v2 and v3: unknown scores of open-loop, ');
    const { rows, ...run } = results('flags.json');
    expect(run).toMatchObject({ backend: 'reference', kernel: 'reference', threads: 1, grader: 'v1' });
    const named = rows.map((row: Record<string, string>) => `${row.condition} ${row.policy} ${row.seeds}`);
    expect(named).toEqual([
      ...['ood random 10000-10011', 'ood heuristic 10000-10011'],
      ...['custom random 7-18', 'custom heuristic 7-18'],
    ]);
    expect(rows[3].profiles).toBe('workaholic_stoic');
    // Of each named profile there are fewer than 20 episodes.
    const fewer = await runCli(['eval', '--episodes', '20', '--policies', 'random']);
    expect(fewer.stdout).toContain('discrete: seeds 0-4 of each profile, 15 episodes');
  });

  it("prints a custom grader's weights, writes them to the JSON, and grades by them", async () => {
    const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
    writeFileSync(pathOf('calm.json'), JSON.stringify(calm));
    const graded = ['--grader', pathOf('calm.json'), '--json', pathOf('graded.json')];
    const { stdout } = await runCli(['eval', '--conditions', 'ood', ...graded]);
    expect(stdout).toContain('calm weighs crash_free 0.5, efficiency 0.3, belief_accuracy 0.2\n');
    expect(stdout).not.toContain('published');
    const { grader, grader_weights: weights, rows } = results('graded.json');
    expect([grader, weights]).toEqual(['calm', validateGrader(calm).weights]);
    using env = createVecEnv({ numEnvs: 50, grader: graderWeights(calm) });
    env.reset({ seed: 10000 });
    const scores = env.run('random').finalScores;
    expect(rows[0].final_score.mean).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / 50, 12);
  });

  it('runs on the backend and kernel that it names; without an addon in WebAssembly, and prints why', async () => {
    const { code, stdout } = await runCli(
      ['eval', '--conditions', 'ood', '--json', pathOf('ref.json')],
      '',
      WITHOUT_ADDON,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('backend wasm');
    expect(stdout).toContain('tried before it: native (Expected the native addon at /nowhere/rhythm.node');
    expect(results('ref.json').rows[1].digest).toBe(tables['ood/heuristic/none/v2'].digest);
    expect(await runCli(['eval', '--backend', 'native'], '', WITHOUT_ADDON)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Expected an available backend, got "native"/),
    });
    const kernel = NATIVE.at(-1)?.kernel;
    if (kernel === undefined) return;
    const chosen = await runCli(['eval', '--conditions', 'ood', '--kernel', kernel, '--threads', '2']);
    expect(chosen.stdout).toContain(`backend native, kernel ${kernel}, 2 threads`);
  });
});

const HEURISTIC = ['eval', '--seeds', '5-6', '--policies', 'heuristic'];

describe('eval --trajectories', () => {
  it('writes every episode without changing results, and reeval finds no mismatch', async () => {
    const args = ['eval', '--policies', 'random,heuristic+constant,heuristic+inference', '--episodes', '4'];
    const path = pathOf('new/t.jsonl');
    const { code, stdout, stderr } = await runCli([
      ...[...args, '--trajectories', path],
      ...['--json', pathOf('new/with.json')],
    ]);
    expect([code, stderr]).toEqual([0, '']);
    await runCli([...args, '--json', pathOf('without.json')]);
    const { rows } = results('new/with.json');
    expect(rows).toEqual(results('without.json').rows);
    const episodes = rows.reduce((sum: number, row: { episodes: number }) => sum + row.episodes, 0);
    expect(stdout).toContain(`${episodes} episodes in`);
    const replayed = await runCli(['reeval', '--jsonl', path, '--grader', 'v2', '--json', pathOf('re.json')]);
    expect(replayed.code).toBe(0);
    expect(replayed.stdout).toContain(`${episodes} episodes replayed, all as recorded, bit for bit.`);
    // reeval has the same scores under the same names.
    for (const { condition, policy, belief, digest } of rows) {
      const teacher = belief === 'constant' ? `${policy}+constant` : policy;
      const same = results('re.json').rows.filter(
        (row: Record<string, unknown>) => row.condition === condition && row.teacher === teacher,
      );
      expect(same.map((row: { digest: string }) => row.digest)).toEqual([digest]);
    }
  });

  it('leaves no temporary file beside an output if another output cannot be opened', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(pathOf('socket'), resolve));
    const outputs = ['--json', pathOf('socket'), '--trajectories', pathOf('never.jsonl')];
    const { code, stderr } = await runCli([...HEURISTIC, ...outputs]);
    server.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining('system call open to succeed, got ENXIO')]);
    expect(readdirSync(pathOf(''))).not.toContain('never.jsonl');
    expect(leftovers()).toEqual([]);
  });

  it.each([
    ['--trajectories', 'blocked.jsonl'],
    ['--trajectories', 'blocked.parquet'],
  ])('leaves none of the outputs if the file of %s, %s, cannot be completed', async (option, name) => {
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
      ...{ '--json': 'none.json', '--trajectories': 'none.jsonl' },
      [option]: name,
    };
    const paths = Object.entries(outputs).map(([flag, file]) => [flag, pathOf(file)]);
    const { code, stderr } = await runCli([...HEURISTIC, '--policies', policy, ...paths.flat()]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/to be a file, got a directory, which was/)]);
    expect(paths.filter(([, path]) => statSync(path, { throwIfNoEntry: false })?.isFile())).toEqual([]);
    expect(leftovers()).toEqual([]);
  });
});
