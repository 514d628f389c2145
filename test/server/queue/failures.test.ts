/** Shards that fail in all attempts, lose their lease, or give other bytes when they are computed again. */
import { Queue as Shards } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockKey, type ShardData } from '../../../src/server/queue/keys.js';
import { json } from '../../fakes/openai-faults.js';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { startModel } from '../../support/llm.js';
import { read, runQueue, submit, workHere, workWith } from '../../support/queue.js';
import { describeWithRedis, RedisServer, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const PREFIX = 'rhythm-vec';
/**
 * The prefix of a queue whose worker has a lease of 1 s. After a worker with a lease of 30 s has looked for lost leases, no
 * worker of its queue looks again for 30 s.
 */
const SHORT = 'short-leases';
const argsOf = (seeds: string) => ['teach', '--policy', 'llm:fake', '--seeds', seeds, '--retries', '0'];

describeWithRedis('a shard', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.close());

  const statusOf = async (name: string) => JSON.parse(await runQueue(server, 'status', name, '--json'));
  const collect = (name: string, path: string, ...options: string[]) =>
    runCli(['queue', 'collect', name, '--output', path, ...options], '', server.environment);

  it('that fails is tried five times with growing waits, then reported, and tried again when its job is submitted again', async () => {
    const args = argsOf('800-801');
    let isBroken = true;
    const fake = await startModel({
      faultOf: () => (isBroken ? ({ response }) => json(response, 401, { error: { message: 'no' } }) : null),
    });
    const name = await submit(server, ...args);
    const client = server.client();
    const shards = new Shards<ShardData>('shards', { connection: client, prefix: PREFIX });
    workWith(server, fake);
    for (const wait of [1000, 2000, 4000, 8000]) {
      await until(async () => (await shards.getDelayedCount()) === 1);
      const delayed = await shards.getDelayed();
      // Each wait is shortened at random, by at most half.
      expect(delayed[0].delay).toBeGreaterThanOrEqual(wait / 2);
      expect(delayed[0].delay).toBeLessThanOrEqual(wait);
      await delayed[0].promote();
    }
    await until(async () => (await shards.getFailedCount()) === 1);
    const { failures, failed, finished } = await statusOf(name);
    expect({ failures, finished }).toEqual({ failures: 5, finished: 0 });
    expect(failed).toMatchObject([{ index: 0, attempts: 5, error: expect.stringContaining('401') }]);
    expect(await collect(name, pathOf('failed.jsonl'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected all shards of .* to succeed, got 1 failed \(shard 0: .*401.*submit the job again/s,
      ),
    });
    isBroken = false;
    expect(await submit(server, ...args)).toBe(name);
    expect((await collect(name, pathOf('failed.jsonl'))).code).toBe(0);
    const expected = pathOf('expected.jsonl');
    expect(await runCli([...args, '--output', expected], '', fake.environment)).toMatchObject({ code: 0 });
    expect(read(pathOf('failed.jsonl'))).toBe(read(expected));
    await shards.close();
    client.disconnect();
  });

  it('that loses its lease is reported with the reason, and computed again', async () => {
    const args = argsOf('810-811');
    let isHanging = true;
    const fake = await startModel({ faultOf: () => (isHanging ? () => {} : null) });
    const queue = ['--prefix', SHORT];
    const name = await submit(server, ...args, ...queue);
    const redis = server.client();
    const worker = workWith(server, fake, { prefix: SHORT, lease: 1 });
    await until(() => fake.requests.length > 0);
    const { submission } = await redis.hgetall(`${SHORT}:job:${name}`);
    const lock = lockKey(SHORT, { job: name, submission, index: 0 });
    await redis.set(lock, 'another worker', 'PX', 1000);
    await worker.note(
      new RegExp(`^Shard 0 of ${name}: Expected this worker to hold the lease of the shard, got`),
    );
    isHanging = false;
    expect((await collect(name, pathOf('lost-lease.jsonl'), ...queue)).code).toBe(0);
    const expected = pathOf('expected-lost-lease.jsonl');
    expect(await runCli([...args, '--output', expected], '', fake.environment)).toMatchObject({ code: 0 });
    expect(read(pathOf('lost-lease.jsonl'))).toBe(read(expected));
    redis.disconnect();
  });

  it('that gives other bytes on its second run is reported by worker, status and collect', async () => {
    const name = await submit(server, 'teach', '--seeds', '800-803');
    const redis = server.client();
    const worker = workHere(server);
    await until(async () => (await statusOf(name)).active === 1);
    // While Redis is full, the worker waits with its result. Meanwhile the test stores another result of the shard.
    await redis.config('SET', 'maxmemory', 1);
    await worker.note(/^Redis: OOM .* Waits\.$/);
    // A stored result is a digest, then the compressed bytes.
    const digest = Buffer.alloc(32);
    const tampered = Buffer.concat([digest, Buffer.alloc(8)]);
    await redis
      .pipeline()
      .config('SET', 'maxmemory', 0)
      .hset(`${PREFIX}:results:${name}`, 0, tampered)
      .hset(`${PREFIX}:digests:${name}`, 0, digest)
      .exec();
    await worker.note(
      new RegExp(`^Shard 0 of ${name}: Expected shard 0 of ${name} to give the same bytes again`),
    );
    expect((await statusOf(name)).different).toEqual([0]);
    expect(await collect(name, pathOf('tampered.jsonl'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected every run of a shard to give the same bytes, got other bytes from .* for shard 0 of teach-/,
      ),
    });
    redis.disconnect();
  });
});
