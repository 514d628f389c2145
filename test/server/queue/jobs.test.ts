/** Jobs: submitted, computed by workers, and collected as the files and tables of the command without a queue. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { MAIN, runCli, temporaryDirectory } from '../../support/cli.js';
import {
  linesOf,
  read,
  runQueue,
  startCollector,
  startWorker,
  statusOf,
  submit,
  workHere,
} from '../../support/queue.js';
import { describeWithRedis, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const QUICK = ['--policy', 'heuristic+inference', '--profiles', 'sampled'];
const GRPO = ['dataset', 'grpo', '--rows', '61', '--profiles', 'mix', '--steps', '0-3', '--grader', 'v3'];
const CONDITIONS = ['--policies', 'heuristic,random+constant', '--conditions', 'ood,discrete'];

/** Removes times, and the first line of tables, which has the engine. */
const timeless = (text: string): string =>
  text.replace(/^.* on .*\n/, '').replace(/"seconds": .*|(?<= in )[\d.]+ s\.|^[\d.]+ s\.$/gm, '');

describeWithRedis('a job', (server) => {
  const keysOf = async (name: string): Promise<string[]> => {
    const client = server.client();
    const keys = (await client.keys('*')).filter((key) => key.includes(name));
    client.disconnect();
    return keys;
  };

  it('is computed by two workers, gives the file of the command without a queue, and leaves only its record in Redis', async () => {
    const args = ['teach', ...QUICK, '--seeds', '100-123'];
    const name = await submit(server, ...args, '--shard-size', '8');
    expect(name).toMatch(/^teach-[\da-f]{12}$/);
    expect(await submit(server, ...args, '--shard-size', '8')).toBe(name);
    expect(await statusOf(server, name)).toMatchObject({ state: 'open', shards: 3, finished: 0, rows: 24 });
    const path = pathOf('a.jsonl');
    const collector = startCollector(server, name, path);
    const collect = (file: string) =>
      runCli(['queue', 'collect', name, '--output', pathOf(file)], '', server.environment);
    for (let worker = 0; worker < 2; worker++) workHere(server);
    expect(await collector.finished).toMatchObject({ code: 0 });
    expect(read(path)).toBe(await linesOf(args));
    const collected = { state: 'collected', finished: 3, failures: 0, failed: [] };
    expect(await statusOf(server, name)).toMatchObject(collected);
    // BullMQ forgets the last shard after its result was stored.
    await until(async () => (await keysOf(name)).length === 1);
    expect(await keysOf(name)).toEqual([`rhythm-vec:job:${name}`]);
    expect(await collect('a.jsonl')).toMatchObject({
      code: 0,
      stderr: `${name} is complete in ${path}. Nothing to do.\n`,
    });
    expect(await collect('c.jsonl')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Copy that file, or submit the job again.'),
    });
  });

  it.each<[args: string[], size: string, files: Record<string, string>]>([
    [['teach', ...QUICK, '--seeds', '100-115'], '8', { '--output': 'w.parquet' }],
    [GRPO, '16', { '--output': 'train.jsonl' }],
    [GRPO, '16', { '--output': 'train.parquet' }],
    [['eval', ...CONDITIONS], '16', { '--trajectories': 't.jsonl', '--json': 'j.json' }],
  ])('of %j gives the files and tables of the command without a queue', async (args, size, files) => {
    const [one, many] = [1, 2].map(() => mkdtempSync(pathOf('files-')));
    const optionsIn = (folder: string, first?: string): string[] =>
      Object.entries(files).flatMap(([option, file], k) => [
        (k === 0 && first) || option,
        join(folder, file),
      ]);
    const name = await submit(server, ...args, '--shard-size', size);
    const workers = [workHere(server), workHere(server)];
    const whole = await runCli([...args, ...optionsIn(one)]);
    expect(whole.code).toBe(0);
    const tables = await runQueue(server, 'collect', name, ...optionsIn(many, '--output'));
    expect(timeless(tables)).toBe(timeless(whole.stdout));
    // A data set has a card beside its file.
    expect(readdirSync(many)).toEqual(readdirSync(one));
    for (const file of readdirSync(one)) {
      const [expected, got] = [one, many].map((folder) => readFileSync(join(folder, file), 'latin1'));
      expect(timeless(got)).toBe(timeless(expected));
    }
    const collected = { state: 'collected', failures: 0, different: [] };
    expect(await statusOf(server, name)).toMatchObject(collected);
    expect(workers.flatMap(({ notes }) => notes)).toEqual([]);
  });

  it('of higher priority goes first, and an interrupted worker gives its shard back', async () => {
    const later = await submit(server, 'teach', '--seeds', '200-263', '--shard-size', '64');
    const sooner = await submit(server, 'teach', ...QUICK, '--seeds', '200-207', '--priority', '1');
    const worker = startWorker(server);
    await until(async () => (await statusOf(server, sooner)).finished === 1, 100);
    expect((await statusOf(server, later)).finished).toBe(0);
    await until(async () => (await statusOf(server, later)).active === 1, 100);
    expect(await runQueue(server, 'collect', sooner, '--format', 'parquet', '--output', '-')).toMatch(
      /^PAR1/,
    );
    worker.child.kill('SIGINT');
    expect((await worker.finished).code).toBe(0);
    expect(await statusOf(server, later)).toMatchObject({ active: 0, failures: 0, state: 'open' });
    for (const name of [later, sooner]) await runQueue(server, 'cancel', name);
  });

  it('stops when it is cancelled, leaves no data, and can be submitted again', async () => {
    const args = ['teach', '--seeds', '300-427', '--shard-size', '64'];
    const name = await submit(server, ...args);
    workHere(server);
    const collector = startCollector(server, name, pathOf('cancelled.jsonl'));
    await until(async () => (await statusOf(server, name)).active === 1, 100);
    await runQueue(server, 'cancel', name);
    expect(await collector.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Expected the job ${name} to run, got a cancelled job.`),
    });
    await until(async () => (await statusOf(server, name)).active === 0, 100);
    await until(async () => (await keysOf(name)).length === 1);
    expect(await statusOf(server, name)).toMatchObject({ state: 'cancelled', finished: 0 });
    expect(existsSync(pathOf('cancelled.jsonl'))).toBe(false);
    expect(await submit(server, ...args)).toBe(name);
    await until(async () => (await statusOf(server, name)).active === 1, 100);
    await runQueue(server, 'cancel', name);
  });

  it('takes its grader from a pipe', async () => {
    const grader = pathOf('mine.json');
    writeFileSync(grader, '{"name": "mine", "weights": {"crash_free": 0.5, "progress": 0.5}}');
    const args = ['teach', ...QUICK, '--seeds', '100-107'];
    const command = `"${process.execPath}" "${MAIN}" queue submit ${args.join(' ')} --grader /dev/stdin`;
    const env = { ...process.env, ...server.environment };
    const { stdout } = await promisify(execFile)('bash', ['-c', `cat "${grader}" | ${command}`], { env });
    workHere(server);
    expect(await runQueue(server, 'collect', stdout.trim(), '--output', '-')).toBe(
      await linesOf([...args, '--grader', grader]),
    );
  });

  it('runs as docs/commands.md shows', async () => {
    const page = read(fileURLToPath(new URL('../../../docs/commands.md', import.meta.url)));
    const [, script] = /^## queue\n\n```sh\n(.*?)```/ms.exec(page)!;
    const command = `npx() { shift; "${process.execPath}" "${MAIN}" --quiet "$@"; }`;
    const lines = script.replace('100-131', '100-101').replace(/^export REDIS_URL.*$/m, '');
    const options = { cwd: mkdtempSync(pathOf('docs-')), env: { ...process.env, ...server.environment } };
    await promisify(execFile)('bash', ['-euc', `${command}\n${lines}`], options);
    expect(read(join(options.cwd, 'teacher.jsonl')).split('\n')).toHaveLength(3);
  });

  it('that does not exist is refused', async () => {
    const outcome = await runCli(['queue', 'status', 'teach-0'], '', server.environment);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected a job of the queue .*"teach-0"; .*jobs of the queue are/,
      ),
    });
  });
});
