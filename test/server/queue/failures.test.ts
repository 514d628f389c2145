/** Shards that fail in all attempts, and shards that give other bytes when they are computed again. */
import { Queue as Shards } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJob, storeResult } from '../../../src/server/queue/job-store.js';
import type { ShardData } from '../../../src/server/queue/keys.js';
import type { FakeOpenAi } from '../../fakes/openai.js';
import { json } from '../../fakes/openai-faults.js';
import { type Running, runCli, startCli, temporaryDirectory } from '../../support/cli.js';
import { startModel } from '../../support/llm.js';
import { read, runQueue, startWorker, stop, submit } from '../../support/queue.js';
import { describeWithRedis, RedisServer, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const PREFIX = 'rhythm-vec';
const ARGS = ['teach', '--policy', 'llm:fake', '--seeds', '800-807', '--retries', '0'];

describeWithRedis('a shard', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.close());

  const start = (fake: FakeOpenAi): Running =>
    startCli(['queue', 'work', '--lease', '5'], { ...server.environment, ...fake.environment });
  const statusOf = async (name: string) => JSON.parse(await runQueue(server, 'status', name, '--json'));
  const collect = (name: string, path: string) =>
    runCli(['queue', 'collect', name, '--output', path], '', server.environment);

  it('that fails is tried five times with growing waits, then named, and tried again when it is submitted again', async () => {
    let isBroken = true;
    const fake = await startModel({
      faultOf: () => (isBroken ? ({ response }) => json(response, 401, { error: { message: 'no' } }) : null),
    });
    const name = await submit(server, ...ARGS);
    const client = server.client();
    const shards = new Shards<ShardData>('shards', { connection: client, prefix: PREFIX });
    const worker = start(fake);
    for (const wait of [1000, 2000, 4000, 8000]) {
      await until(async () => (await shards.getDelayedCount()) === 1);
      const delayed = await shards.getDelayed();
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
    expect(await submit(server, ...ARGS)).toBe(name);
    expect((await collect(name, pathOf('failed.jsonl'))).code).toBe(0);
    const expected = pathOf('expected.jsonl');
    expect(await runCli([...ARGS, '--output', expected], '', fake.environment)).toMatchObject({ code: 0 });
    expect(read(pathOf('failed.jsonl'))).toBe(read(expected));
    await stop(worker);
    await shards.close();
    client.disconnect();
  });

  it('that gives other bytes on its second run is named by worker, status and collect', async () => {
    const name = await submit(server, 'teach', '--seeds', '800-807');
    const worker = startWorker(server, '--lease', '60');
    await until(async () => (await statusOf(name)).active === 1);
    worker.child.kill('SIGSTOP');
    const redis = server.client();
    const tampered = { digest: new Uint8Array(32), compressed: new Uint8Array(8), computeMs: 1 };
    const queue = { redis, prefix: PREFIX };
    const { submission } = (await readJob(queue, name))!;
    const shard = { job: name, submission, index: 0 };
    expect(await storeResult(queue, shard, tampered, 'other')).toBe('stored');
    redis.disconnect();
    worker.child.kill('SIGCONT');
    await worker.until(
      'stderr',
      `Shard 0 of ${name}: Expected shard 0 of ${name} to give the same bytes again`,
    );
    expect((await statusOf(name)).different).toEqual([0]);
    expect(await collect(name, pathOf('tampered.jsonl'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: Expected every run of a shard to give the same bytes, got others from .* for shard 0 of teach-/,
      ),
    });
    await stop(worker);
  });
});
