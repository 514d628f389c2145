/** Jobs of a policy: submitted, computed by workers and collected. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIN, runCli, temporaryDirectory } from '../../support/cli.js';
import { read, runQueue, startCollector, startWorker, submit, workHere } from '../../support/queue.js';
import { describeWithRedis, RedisServer, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const QUICK = ['--policy', 'heuristic+inference', '--profiles', 'sampled'];

/** Returns the text of the file that the command writes without a queue. */
async function fileOf(...args: string[]): Promise<string> {
  const path = pathOf('one-process.jsonl');
  const { code, stderr } = await runCli([...args, '--output', path]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return read(path);
}

describeWithRedis('a job', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.close());

  const statusOf = async (name: string) => JSON.parse(await runQueue(server, 'status', name, '--json'));
  const keysOf = async (name: string): Promise<string[]> => {
    const client = server.client();
    const keys = (await client.keys('*')).filter((key) => key.includes(name));
    client.disconnect();
    return keys;
  };

  it('is computed by two workers, refuses a second collector, gives the file of the command without a queue, and leaves only its record in Redis', async () => {
    const args = ['teach', ...QUICK, '--seeds', '100-123'];
    const name = await submit(server, ...args, '--shard-size', '8');
    expect(name).toMatch(/^teach-[\da-f]{12}$/);
    expect(await submit(server, ...args, '--shard-size', '8')).toBe(name);
    expect(await statusOf(name)).toMatchObject({ state: 'open', shards: 3, finished: 0, rows: 24 });
    const path = pathOf('a.jsonl');
    const collector = startCollector(server, name, path);
    await until(async () => (await keysOf(name)).includes(`rhythm-vec:collector:${name}`));
    const collect = (file: string) =>
      runCli(['queue', 'collect', name, '--output', pathOf(file)], '', server.environment);
    expect(await collect('b.jsonl')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected no other collector of .*, got a collector that writes .*a\.jsonl\./,
      ),
    });
    for (let worker = 0; worker < 2; worker++) workHere(server);
    expect(await collector.finished).toMatchObject({ code: 0 });
    expect(read(path)).toBe(await fileOf(...args));
    expect(await statusOf(name)).toMatchObject({ state: 'collected', finished: 3, failures: 0, failed: [] });
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

  it('is collected as Parquet, with the bytes of the command without a queue', async () => {
    const args = ['teach', ...QUICK, '--seeds', '100-115'];
    const name = await submit(server, ...args, '--shard-size', '8');
    const worker = workHere(server, { untilEmpty: true });
    const collect = ['collect', name, '--format', 'parquet', '--output'];
    expect(await runQueue(server, ...collect, '-')).toMatch(/^PAR1/);
    await runQueue(server, ...collect, pathOf('many'));
    await runCli([...args, '--output', pathOf('one.parquet')]);
    expect(readFileSync(pathOf('many')).equals(readFileSync(pathOf('one.parquet')))).toBe(true);
    expect(await worker.finished).toBe(2);
  });

  it('of higher priority goes first, and an interrupted worker gives its shard back', async () => {
    const later = await submit(server, 'teach', '--seeds', '200-263', '--shard-size', '64');
    const sooner = await submit(server, 'teach', ...QUICK, '--seeds', '200-207', '--priority', '1');
    const worker = startWorker(server);
    await until(async () => (await statusOf(sooner)).finished === 1);
    expect((await statusOf(later)).finished).toBe(0);
    await until(async () => (await statusOf(later)).active === 1);
    worker.child.kill('SIGINT');
    expect((await worker.finished).code).toBe(0);
    expect(await statusOf(later)).toMatchObject({ active: 0, failures: 0, state: 'open' });
    await runQueue(server, 'cancel', later);
    await runQueue(server, 'cancel', sooner);
  });

  it('stops when it is cancelled, leaves no data, and can be submitted again', async () => {
    const args = ['teach', '--seeds', '300-427', '--shard-size', '64'];
    const name = await submit(server, ...args);
    workHere(server);
    const collector = startCollector(server, name, pathOf('cancelled.jsonl'));
    await until(async () => (await statusOf(name)).active === 1);
    await runQueue(server, 'cancel', name);
    expect(await collector.finished).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Expected the job ${name} to run, got a cancelled job.`),
    });
    await until(async () => (await statusOf(name)).active === 0);
    await until(async () => (await keysOf(name)).length === 1);
    expect(await statusOf(name)).toMatchObject({ state: 'cancelled', finished: 0 });
    for (const file of ['cancelled.jsonl', 'cancelled.jsonl.shards'])
      expect(existsSync(pathOf(file))).toBe(false);
    expect(await submit(server, ...args)).toBe(name);
    await until(async () => (await statusOf(name)).active === 1);
    await runQueue(server, 'cancel', name);
  });

  it('of eval gives the files and tables of the command without a queue', async () => {
    const args = ['eval', '--policies', 'heuristic,random+constant', '--conditions', 'ood,discrete'];
    const [one, many] = ['one', 'many'].map((folder) => (file: string) => pathOf(`${folder}-${file}`));
    const others = (place: typeof one) => ['--components', place('c.jsonl'), '--json', place('j.json')];
    const expected = await runCli([...args, '--trajectories', one('t.jsonl'), ...others(one)]);
    const name = await submit(server, ...args, '--shard-size', '16');
    const worker = workHere(server, { untilEmpty: true });
    const stdout = await runQueue(server, 'collect', name, '--output', many('t.jsonl'), ...others(many));
    // The first line has the engine, and a later line the seconds.
    const tablesIn = (text: string) => text.slice(text.indexOf('\n')).replace(/ in [\d.]+ s\./, '');
    expect(tablesIn(stdout)).toBe(tablesIn(expected.stdout));
    for (const file of ['t.jsonl', 'c.jsonl']) expect(read(many(file))).toBe(read(one(file)));
    const rowsOf = (place: typeof one) => JSON.parse(read(place('j.json'))).rows;
    expect(rowsOf(many)).toEqual(rowsOf(one));
    await worker.finished;
    expect(worker.notes).toEqual([]);
  });

  it('runs as docs/commands.md shows', async () => {
    const page = read(fileURLToPath(new URL('../../../docs/commands.md', import.meta.url)));
    const [, script] = /^## queue\n\n```sh\n(.*?)```/ms.exec(page)!;
    const command = `npx() { shift; "${process.execPath}" "${MAIN}" --quiet "$@"; }`;
    const lines = script
      .replace('100-131', '100-101')
      .split('\n')
      .filter((line) => !line.startsWith('export REDIS_URL'));
    const options = { cwd: mkdtempSync(pathOf('docs-')), env: { ...process.env, ...server.environment } };
    await promisify(execFile)('bash', ['-euc', [command, ...lines].join('\n')], options);
    expect(read(join(options.cwd, 'teacher.jsonl')).split('\n')).toHaveLength(3);
  });

  it('that does not exist is refused', async () => {
    const outcome = await runCli(['queue', 'status', 'teach-0'], '', server.environment);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected a job of the queue "rhythm-vec", got "teach-0"; the (last )?jobs of the queue are/,
      ),
    });
  });
});
