/** A collector (`rhythm-vec queue collect`) continues where another stopped, and refuses damaged files and other paths. */
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CollectedShards, collectedOf } from '../../../src/cli/queue/collected-shards.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { toCompact } from '../../../src/rollouts/trajectories/compact-episode.js';
import { createJob, type TeachJob } from '../../../src/server/jobs/job.js';
import { runShard } from '../../../src/server/jobs/run.js';
import { Collector } from '../../../src/server/queue/collect.js';
import {
  isCurrent,
  type Queue,
  readJob,
  type ShardResult,
  type StoredJob,
  storeResult,
} from '../../../src/server/queue/job-store.js';
import { packEpisodes } from '../../../src/server/queue/result-codec.js';
import { resultOf } from '../../../src/server/queue/serve-shards.js';
import { type SubmitJobOptions, submitJob } from '../../../src/server/queue/submit.js';
import { temporaryDirectory } from '../../support/cli.js';
import { NEVER } from '../../support/llm.js';
import { describeWithRedis, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const SHARDS = 3;
const NAME = 'job';
const teachJob = createJob<TeachJob>('teach', toGrader('v2'), {
  policy: 'heuristic+inference',
  policy_file: null,
  model: null,
  seeds: { first: 10, last: 15 },
  profiles: 'sampled',
});

describeWithRedis('a collector', (server) => {
  let queue: Queue;
  let results: ShardResult[];
  let text: string;
  let path: string;
  let files = 0;

  beforeAll(async () => {
    queue = { redis: server.client(), prefix: 'unit' };
    [results, text] = [[], ''];
    for (let index = 0; index < SHARDS; index++) {
      for await (const batch of runShard(teachJob, { index, count: SHARDS })) {
        results.push(resultOf(packEpisodes(batch.episodes.map(toCompact)), 1));
        text += batch.text;
      }
    }
  });
  afterAll(() => queue.redis.disconnect());
  beforeEach(async () => {
    await queue.redis.config('SET', 'maxmemory', 0);
    await queue.redis.flushall();
    path = pathOf(`${files++}.jsonl`);
    await submit();
  });

  const submit = (options: SubmitJobOptions = {}) =>
    submitJob(
      { url: server.url, prefix: 'unit' },
      { version: teachJob.version, world: teachJob.world_digest },
      {
        ...{ name: NAME, job: JSON.stringify(teachJob), settings: '{}', kind: 'teach' },
        ...{ shards: SHARDS, rows: 6, priority: 1 },
      },
      options,
    );
  const store = async (...indices: number[]): Promise<void> => {
    const { submission } = (await readJob(queue, NAME))!;
    for (const index of indices) {
      const shard = { job: NAME, submission, index };
      expect(await storeResult(queue, shard, results[index], 'here')).toBe('stored');
    }
  };
  const openStore = (job: StoredJob) =>
    CollectedShards.open(collectedOf(path), job, (other) =>
      isCurrent(queue, { job: other.name, submission: other.submission }),
    );
  /** Opens a collector of a process. @param ended the processes that are known to have ended. */
  const open = (process: string, ...ended: string[]) =>
    Collector.open(queue, NAME, {
      file: `here:${path}`,
      process,
      openStore,
      hasEnded: (other) => ended.includes(other),
    });
  /** Returns the indices of the results that are in Redis. */
  const waiting = () => queue.redis.hkeys('unit:results:job');
  /** Collects until `left` results are left in Redis. Does not close the collector, as if it were killed. */
  async function collectUntil(collector: Collector, left: number): Promise<void> {
    const stopped = new AbortController();
    const running = collector.wait(stopped.signal, () => {}).catch(() => {});
    await until(async () => (await waiting()).length === left);
    stopped.abort();
    await running;
  }
  async function textOf(collector: Collector): Promise<string> {
    let all = '';
    for await (const bytes of collector.lines()) all += Buffer.from(bytes).toString();
    return all;
  }
  async function expectWhole(collector: Collector): Promise<void> {
    await collector.wait(NEVER, () => {});
    expect(await textOf(collector)).toBe(text);
    // '00' stands for the SHA-256 of the output file.
    await collector.finish('00');
    await collector.close();
    expect(existsSync(collectedOf(path))).toBe(false);
    expect(await queue.redis.keys('unit:*:job')).toEqual(['unit:job:job']);
  }

  it('moves results out of Redis as they come, and another process continues from its file', async () => {
    await store(2, 0);
    await collectUntil(await open('first'), 0);
    await expect(open('second')).rejects.toThrow(
      /^Expected no other collector of job, got a collector that writes here:/,
    );
    await store(1);
    await expectWhole(await open('second', 'first'));
  });

  it('takes over when the claim of another collector has expired, and the other can take over again in the same way', async () => {
    await store(0);
    const first = await open('first');
    await collectUntil(first, 0);
    await queue.redis.del('unit:collector:job');
    const second = await open('second');
    await store(1);
    await collectUntil(second, 0);
    await queue.redis.del('unit:collector:job');
    await store(2);
    await expectWhole(first);
    await second.close();
  });

  it('drops a partly written record, whose result is still in Redis', async () => {
    await store(0, 1, 2);
    const first = await open('first');
    await collectUntil(first, 0);
    // The collector was killed while it wrote the last record, before it removed the result.
    const bytes = readFileSync(collectedOf(path));
    // A record ends with a checksum of four bytes. The cuts are within the checksum, before it, and within the result.
    for (const cut of [1, 4, 30, 44]) {
      writeFileSync(collectedOf(path), bytes.subarray(0, bytes.length - cut));
      const value = Buffer.concat([results[2].digest, results[2].compressed]);
      await queue.redis.hset('unit:results:job', 2, value);
      const next = await open('next', 'first', 'next');
      await collectUntil(next, 0);
      expect(statSync(collectedOf(path)).size).toBe(bytes.length);
    }
    appendFileSync(collectedOf(path), Buffer.alloc(50));
    await expectWhole(await open('last', 'next'));
  });

  it('is refused for another path and for a damaged file, and the error names the missing shards; --again computes them again', async () => {
    await store(0, 1);
    await collectUntil(await open('first'), 0);
    const kept = path;
    path = pathOf('other.jsonl');
    await expect(open('second', 'first')).rejects.toThrow(
      /^Expected all results of job in Redis, got results that were collected for here:.*\. Run "queue collect" there/,
    );
    path = kept;
    truncateSync(collectedOf(path), 100);
    await expect(open('second', 'first')).rejects.toThrow(
      /got a file without 2 of them \(shards 0, 1\)\. .* --again/,
    );
    expect(await submit({ again: true })).toMatchObject({ forgotten: 2 });
    await store(0, 1, 2);
    await expectWhole(await open('second'));
  });

  it('refuses a path with results of another open job, and keeps them', async () => {
    await store(0);
    await collectUntil(await open('first'), 0);
    const { submission } = (await readJob(queue, NAME))!;
    const other = { name: 'other', submission: 'abc' };
    const openAs = (isOpen: boolean) => CollectedShards.open(collectedOf(path), other, async () => isOpen);
    await expect(openAs(true)).rejects.toThrow(
      /to have results of other, got results of job\. Collect that job first/,
    );
    expect(readFileSync(collectedOf(path), 'latin1')).toContain(submission);
    await (await openAs(false)).close();
  });

  it('makes room in a Redis whose memory is full', async () => {
    await store(0, 1, 2);
    await queue.redis.config('SET', 'maxmemory', 1);
    await expectWhole(await open('first'));
  });
});
