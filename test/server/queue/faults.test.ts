/** Faults of a queue: a full disk, a worker that hangs, a worker of an older release, and a worker without the C++ addon. */
import { Queue as Shards } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { submitJob } from '../../../src/server/queue/submit.js';
import { runCli, runCliProcess, temporaryDirectory } from '../../support/cli.js';
import { read, runQueue, startWorker, stop, submit, workHere } from '../../support/queue.js';
import { describeWithRedis, RedisServer, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();

describeWithRedis('nothing is lost', () => {
  let server: RedisServer;
  beforeAll(async () => {
    // With appendfsync always, a full disk ends Redis.
    server = await RedisServer.start('--appendfsync', 'everysec');
  });
  afterAll(() => server.close());

  async function expectFile(path: string, args: readonly string[]): Promise<void> {
    const expected = `${path}.expected`;
    expect(await runCli([...args, '--output', expected])).toMatchObject({ code: 0 });
    expect(read(path)).toBe(read(expected));
  }

  it('while the disk of Redis is full', async () => {
    const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '500-515'];
    const name = await submit(server, ...args, '--shard-size', '8');
    // The job writes more than 2,000 bytes.
    server.limitFiles(server.fileSize + 2000);
    const worker = workHere(server);
    await worker.note(/^Redis: (.*MISCONF.*) Waits\.$/);
    server.limitFiles('unlimited');
    await runQueue(server, 'collect', name, '--output', pathOf('full.jsonl'));
    await expectFile(pathOf('full.jsonl'), args);
  });

  it('while a worker hangs: another worker takes over, and the late result is compared', async () => {
    // All workers of this queue have leases of 2 s. If a worker with a lease of 30 s, as in the other tests, looked for lost
    // leases, no worker of the same queue would look again for 30 s.
    const queue = ['--prefix', 'hanging'];
    const args = ['teach', '--seeds', '600-603', '--policy', 'planner'];
    const name = await submit(server, ...args, '--shard-size', '8', ...queue);
    const status = async () => JSON.parse(await runQueue(server, 'status', name, '--json', ...queue));
    const hanging = startWorker(server, ...queue);
    await until(async () => (await status()).active === 1);
    hanging.child.kill('SIGSTOP');
    expect((await status()).finished).toBe(0);
    workHere(server, { prefix: 'hanging', lease: 2 });
    await until(async () => (await status()).finished === 1, 100);
    hanging.child.kill('SIGCONT');
    await runQueue(server, 'collect', name, '--output', pathOf('hang.jsonl'), ...queue);
    await expectFile(pathOf('hang.jsonl'), args);
    expect(await status()).toMatchObject({ state: 'collected', failed: [], different: [] });
    await stop(hanging);
  });

  it('when a job of a newer release comes: a worker of the older release gives the shard back and ends', async () => {
    const queue = ['--prefix', 'releases'];
    const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '700-707'];
    const name = await submit(server, ...args, ...queue);
    const worker = workHere(server, { prefix: 'releases' });
    await runQueue(server, 'collect', name, '--output', pathOf('old.jsonl'), ...queue);
    const record = { name: 'teach-new', job: '{}', settings: '{}', kind: 'teach' };
    await submitJob(
      { url: server.url, prefix: 'releases' },
      { version: '99.0.0', world: 'ab'.repeat(32) },
      { ...record, shards: 1, rows: 8, priority: 1 },
    );
    await expect(worker.finished).rejects.toThrow(
      /^Expected the queue "releases" to have jobs .*, got jobs of version 99\.0\.0/,
    );
    const client = server.client();
    const shards = new Shards('shards', { connection: client, prefix: 'releases' });
    const counts = await shards.getJobCounts('prioritized', 'active', 'failed', 'delayed');
    expect(counts).toEqual({ prioritized: 1, active: 0, failed: 0, delayed: 0 });
    await shards.close();
    client.disconnect();
  });

  it('when a worker has no C++ addon: it ends with an error', async () => {
    const environment = { ...server.environment, RHYTHM_ADDON: pathOf('none.node') };
    const { code, stderr } = await runCliProcess(['queue', 'work', '--until-empty'], '', environment);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*addon.* pass --backend reference\.\n$/);
  });
});
