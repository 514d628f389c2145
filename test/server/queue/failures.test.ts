/** Failing shards and workers: nothing is lost, and what cannot be computed or differs is reported. */
import { Queue as Shards } from 'bullmq';
import { expect, it } from 'vitest';
import { releaseHere } from '../../../src/cli/queue/queue-options.js';
import { type JobRecord, lockKey, type ShardData } from '../../../src/server/queue/jobs.js';
import { submitJob } from '../../../src/server/queue/shards.js';
import { json } from '../../fakes/openai-faults.js';
import { runCli, runCliProcess, temporaryDirectory } from '../../support/cli.js';
import { startModel } from '../../support/llm.js';
import {
  linesOf,
  runQueue,
  startWorker,
  statusOf,
  stop,
  submit,
  workHere,
  workWith,
} from '../../support/queue.js';
import { describeWithRedis, type RedisServer, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const PREFIX = 'rhythm-vec';
const options = (texts: Record<string, string>) => JSON.stringify({ texts, graderFile: null });
/**
 * The options of a queue whose workers have leases of 1 or 2 s. After a worker with a lease of 30 s has looked for lost leases,
 * no worker of its queue looks again for 30 s.
 */
const SHORT = ['--prefix', 'short-leases'];
const modelArgs = (seeds: string) => ['teach', '--policy', 'llm:fake', '--seeds', seeds, '--retries', '0'];

async function shardsOf(
  server: RedisServer,
  prefix: string,
  use: (shards: Shards<ShardData>) => Promise<void>,
) {
  const client = server.client();
  const shards = new Shards<ShardData>('shards', { connection: client, prefix });
  await use(shards);
  await shards.close();
  client.disconnect();
}

describeWithRedis('a shard', (server) => {
  const collect = (name: string, ...options: string[]) =>
    runCli(['queue', 'collect', name, '--output', '-', ...options], '', server.environment);

  it('that fails is tried five times with growing waits, then reported, and tried again when its job is submitted again', async () => {
    const args = modelArgs('800-801');
    let isBroken = true;
    const fake = await startModel({
      faultOf: () => (isBroken ? ({ response }) => json(response, 401, { error: { message: 'no' } }) : null),
    });
    const name = await submit(server, ...args);
    workWith(server, fake);
    await shardsOf(server, PREFIX, async (shards) => {
      for (const wait of [1000, 2000, 4000, 8000]) {
        await until(async () => (await shards.getDelayedCount()) === 1);
        const delayed = await shards.getDelayed();
        // Each wait is shortened at random, by at most half.
        expect(delayed[0].delay).toBeGreaterThanOrEqual(wait / 2);
        expect(delayed[0].delay).toBeLessThanOrEqual(wait);
        await delayed[0].promote();
      }
      await until(async () => (await shards.getFailedCount()) === 1);
    });
    expect(await statusOf(server, name)).toMatchObject({
      ...{ failures: 5, finished: 0 },
      failed: [{ index: 0, attempts: 5, error: expect.stringContaining('401') }],
    });
    expect(await collect(name)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected all shards of .* to succeed, got 1 failed \(shard 0: .*401.*submit the job again/s,
      ),
    });
    isBroken = false;
    expect(await submit(server, ...args)).toBe(name);
    expect((await collect(name)).stdout).toBe(await linesOf(args, fake.environment));
  });

  it('that loses its lease is reported with the reason, and computed again', async () => {
    const args = modelArgs('810-811');
    let isHanging = true;
    const fake = await startModel({ faultOf: () => (isHanging ? () => {} : null) });
    const name = await submit(server, ...args, ...SHORT);
    const redis = server.client();
    const [, prefix] = SHORT;
    const worker = workWith(server, fake, { prefix, lease: 1 });
    await until(() => fake.requests.length > 0);
    const { submission } = await redis.hgetall(`${prefix}:job:${name}`);
    const lock = lockKey(prefix, { job: name, submission, index: 0 });
    await redis.set(lock, 'another worker', 'PX', 1000);
    redis.disconnect();
    await worker.note(
      new RegExp(`^Shard 0 of ${name}: Expected this worker to hold the lease of the shard, got`),
    );
    isHanging = false;
    expect((await collect(name, ...SHORT)).stdout).toBe(await linesOf(args, fake.environment));
  });

  it('that gives other bytes on its second run is reported by worker, status and collect', async () => {
    const name = await submit(server, 'teach', '--seeds', '800-803');
    const redis = server.client();
    const worker = workHere(server);
    await until(async () => (await statusOf(server, name)).active === 1, 100);
    // While Redis is full, the worker waits with its result. Meanwhile the test stores another result of the shard.
    await redis.config('SET', 'maxmemory', 1);
    await worker.note(/^Redis: OOM .* Waits\.$/);
    const submission = await redis.hget(`${PREFIX}:job:${name}`, 'submission');
    // A stored result is a digest of 32 bytes, then the compressed file.
    await redis
      .pipeline()
      .config('SET', 'maxmemory', 0)
      .hset(`${PREFIX}:results:${name}:${submission}`, 0, Buffer.alloc(40))
      .hset(`${PREFIX}:manifests:${name}:${submission}`, 0, '{}')
      .exec();
    redis.disconnect();
    await worker.note(
      new RegExp(`^Shard 0 of ${name}: Expected shard 0 of ${name} to give the same bytes again`),
    );
    expect((await statusOf(server, name)).different).toEqual([0]);
    const { code, stderr } = await collect(name);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Expected shard 0 of .* the same bytes on every machine, got other bytes on/),
    ]);
  });

  it('whose worker hangs is taken over by another worker, and the late result is compared', async () => {
    const args = ['teach', '--seeds', '600-603', '--policy', 'planner'];
    const name = await submit(server, ...args, '--shard-size', '8', ...SHORT);
    const status = () => statusOf(server, name, ...SHORT);
    const hanging = startWorker(server, ...SHORT);
    await until(async () => (await status()).active === 1, 100);
    hanging.child.kill('SIGSTOP');
    expect((await status()).finished).toBe(0);
    workHere(server, { prefix: SHORT[1], lease: 2 });
    await until(async () => (await status()).finished === 1, 100);
    hanging.child.kill('SIGCONT');
    expect((await collect(name, ...SHORT)).stdout).toBe(await linesOf(args));
    expect(await status()).toMatchObject({ finished: 1, failed: [], different: [] });
    await stop(hanging);
  });

  it('of a newer release is given back by a worker of an older release, which ends', async () => {
    const prefix = 'releases';
    const queue = ['--prefix', prefix];
    const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '700-707'];
    const name = await submit(server, ...args, ...queue);
    const worker = workHere(server, { prefix });
    await runQueue(server, 'collect', name, '--output', pathOf('old.jsonl'), ...queue);
    const release = { version: '99.0.0', world: 'ab'.repeat(32) };
    const record = { ...release, name: 'teach-new', options: '{}', settings: '{}', command: 'teach' };
    const redis = server.client();
    await submitJob({ redis, prefix }, { ...record, shards: 1, rows: 8, priority: 1 });
    redis.disconnect();
    await expect(worker.finished).rejects.toThrow(
      /^Expected the queue "releases" to have jobs .*, got teach-new of version 99\.0\.0/,
    );
    await shardsOf(server, prefix, async (shards) => {
      const counts = await shards.getJobCounts('prioritized', 'active', 'failed', 'delayed');
      expect(counts).toEqual({ prioritized: 1, active: 0, failed: 0, delayed: 0 });
    });
  });

  it.each<[what: string, change: Partial<JobRecord>, refusal: RegExp]>([
    ['another command', { command: 'build' }, /got the command build\./],
    ['an option of its output', { options: options({ output: 'x' }) }, /got the option output\./],
    [
      'a policy from a file',
      { options: options({ policy: './mine.js', seeds: '1-8' }) },
      /got the policy .\/mine\.js\./,
    ],
  ])('of a job that was not submitted, with %s, runs nothing', async (what, change, refusal) => {
    const prefix = `forged-${what.replaceAll(' ', '-')}`;
    const redis = server.client();
    const record = { name: 'forged', command: 'teach', options: options({ seeds: '1-8' }), settings: '{}' };
    const sizes = { ...releaseHere(), shards: 1, rows: 8, priority: 1 };
    await submitJob({ redis, prefix }, { ...record, ...sizes, ...change });
    redis.disconnect();
    const worker = workHere(server, { prefix });
    await worker.note(refusal);
    expect(await statusOf(server, 'forged', '--prefix', prefix)).toMatchObject({
      ...{ finished: 0, failures: 1 },
      failed: [{ index: 0, attempts: 1, error: expect.stringMatching(/Cancel the job/) }],
    });
  });

  it('is computed by no worker without the C++ addon: it ends with an error', async () => {
    const environment = { ...server.environment, RHYTHM_ADDON: pathOf('none.node') };
    const { code, stderr } = await runCliProcess(['queue', 'work', '--until-empty'], '', environment);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*addon.* pass --backend wasm\.\n$/)]);
  });
});

// With appendfsync always, a full disk ends Redis.
describeWithRedis(
  'a full disk',
  (server) => {
    it('makes workers wait, and loses nothing', async () => {
      const args = ['teach', '--policy', 'heuristic+inference', '--seeds', '500-515'];
      const name = await submit(server, ...args, '--shard-size', '8');
      // The job writes more than 2,000 bytes.
      server.limitFiles(server.fileSize + 2000);
      const worker = workHere(server);
      await worker.note(/^Redis: (.*MISCONF.*) Waits\.$/);
      server.limitFiles('unlimited');
      expect(await runQueue(server, 'collect', name, '--output', '-')).toBe(await linesOf(args));
    });
  },
  ...['--appendfsync', 'everysec'],
);
