/** The checks of a shard's rows, and which results, episodes and failures Redis accepts. */
import { type Job, Queue as Shards } from 'bullmq';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { toCompact } from '../../../src/rollouts/trajectories/compact-episode.js';
import type { TrajectoryEpisode } from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { rowsProblem } from '../../../src/server/jobs/check-rows.js';
import { createJob, type EvalJob, type TeachJob } from '../../../src/server/jobs/job.js';
import { runShard } from '../../../src/server/jobs/run.js';
import { Collector } from '../../../src/server/queue/collect.js';
import type { QueueAddress } from '../../../src/server/queue/connection.js';
import { noteFailure, type Queue, readJob, storeResult } from '../../../src/server/queue/job-store.js';
import type { ShardData } from '../../../src/server/queue/keys.js';
import { ModelEpisodes } from '../../../src/server/queue/model-episodes.js';
import { packEpisodes } from '../../../src/server/queue/result-codec.js';
import { resultOf } from '../../../src/server/queue/serve-shards.js';
import { cancel, readStatus } from '../../../src/server/queue/status.js';
import { submitJob } from '../../../src/server/queue/submit.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { describeWithRedis } from '../../support/redis.js';

const GRADER = toGrader('v2');
const teachJob = createJob<TeachJob>('teach', GRADER, {
  policy: 'heuristic+inference',
  policy_file: null,
  model: null,
  seeds: { first: 10, last: 17 },
  profiles: 'sampled',
});
const HALF = { index: 0, count: 2 };

async function episodesOf(job: TeachJob | EvalJob): Promise<TrajectoryEpisode[]> {
  const episodes: TrajectoryEpisode[] = [];
  for await (const batch of runShard(job, HALF)) episodes.push(...batch.episodes);
  return episodes;
}

it('rowsProblem finds missing and repeated rows, and rows of another shard, player or version', async () => {
  const [first, second, third, fourth] = await episodesOf(teachJob);
  const problemOf = (...episodes: TrajectoryEpisode[]) => rowsProblem(teachJob, HALF, { episodes });
  expect(problemOf(first, second, third, fourth)).toBeNull();
  expect(problemOf(first, second, third)).toBe('4 episodes, got 3');
  expect(problemOf(first, second, third, third)).toMatch(/^each episode once, got two of .* seed 12$/);
  expect(problemOf(first, second, third, { ...fourth, seed: 14 })).toMatch(/^its own episodes, .* seed 14$/);
  expect(problemOf(first, second, third, { ...fourth, version: '0.0.1' })).toMatch(/of version 0\.0\.1/);
  expect(problemOf(first, second, third, { ...fourth, teacher: 'other' })).toMatch(
    /^episodes of 1 player, got /,
  );
  expect(rowsProblem(teachJob, HALF, { lines: 4 })).toBe('episodes, got other lines');
});

it('rowsProblem expects the episodes of each policy and condition of an evaluation', async () => {
  const parts = [{ profile: 'sampled', seeds: { first: 500, last: 504 } }];
  const job = createJob<EvalJob>('eval', GRADER, {
    ...{ policies: ['heuristic', 'random'], policy_files: {}, model: null, output: 'trajectories' },
    conditions: ['ood', 'custom'].map((name) => ({ name, allowsProfiles: true, parts })),
  });
  const episodes = await episodesOf(job);
  expect(episodes).toHaveLength(8);
  expect(rowsProblem(job, HALF, { episodes })).toBeNull();
  expect(rowsProblem(job, HALF, { episodes: episodes.slice(1) })).toBe('8 episodes, got 7');
});

describeWithRedis('a job in Redis', (server) => {
  let queue: Queue;
  let address: QueueAddress;
  let episodes: TrajectoryEpisode[];
  beforeAll(async () => {
    queue = { redis: server.client(), prefix: 'unit' };
    address = { url: server.url, prefix: 'unit' };
    episodes = await episodesOf(teachJob);
  });
  afterAll(() => queue.redis.disconnect());

  /** Submits the job, and returns its first shard. */
  async function submit(name: string): Promise<ShardData> {
    const record = { name, job: JSON.stringify(teachJob), settings: '{}', kind: 'teach' };
    const release = { version: teachJob.version, world: teachJob.world_digest };
    await submitJob(address, release, { ...record, shards: 2, rows: 8, priority: 1 });
    return { job: name, submission: (await readJob(queue, name))!.submission, index: 0 };
  }
  const resultWith = async (count: number) =>
    resultOf(packEpisodes(episodes.slice(0, count).map(toCompact)), 1);

  it('that is cancelled and submitted again accepts no results from workers of the first submission', async () => {
    const before = await submit('again');
    const stale = await ModelEpisodes.open(queue, before);
    await stale.add(episodes[0]);
    await stale.saved();
    await cancel(queue, 'again');
    const after = await submit('again');
    expect(after.submission).not.toBe(before.submission);
    expect(await storeResult(queue, before, await resultWith(3), 'here')).toBe('closed');
    await stale.add(episodes[1]);
    await stale.saved();
    expect(() => stale.all()).toThrow(/^Expected shard 0 of again to be unfinished/);
    expect((await ModelEpisodes.open(queue, after)).all()).toEqual([]);
    expect((await queue.redis.keys('unit:episodes:*')).length).toBe(0);
    expect(await storeResult(queue, after, await resultWith(4), 'here')).toBe('stored');
  });

  it('the status of several jobs reads each list of shards once, and counts those of the current submission of each job', async () => {
    const [first, second] = [await submit('counted'), await submit('counted too')];
    const lists = (list: readonly ShardData[]) =>
      list.map((data) => ({
        data,
        attemptsMade: 5,
        failedReason: 'it failed',
      })) as unknown as Job<ShardData>[];
    const stale = { ...first, submission: 'earlier' };
    onTestFinished(() => void vi.restoreAllMocks());
    const active = lists([first, stale, second, second]);
    const spies = [
      vi.spyOn(Shards.prototype, 'getActive').mockResolvedValue(active),
      vi
        .spyOn(Shards.prototype, 'getFailed')
        .mockResolvedValue(lists([{ ...first, index: 1 }, stale, first])),
      vi.spyOn(Shards.prototype, 'close'),
    ];
    const failed = [0, 1].map((index) => ({ index, attempts: 5, error: 'it failed' }));
    const jobs = await readStatus(queue);
    expect(jobs.find(({ name }) => name === 'counted')).toMatchObject({ active: 1, failed });
    expect(jobs.find(({ name }) => name === 'counted too')).toMatchObject({ active: 2, failed: [] });
    for (const spy of spies) expect(spy).toHaveBeenCalledOnce();
  });

  it('counts a failed attempt once if the reply was lost, and none after the job has ended', async () => {
    const shard = await submit('failing');
    const failures = async () => (await readJob(queue, 'failing'))!.failures;
    const proxy = new LossyProxy(server.port);
    const behindProxy = { ...queue, redis: await proxy.client() };
    for (const count of [1, 2]) {
      proxy.cut();
      await noteFailure(behindProxy, shard);
      await proxy.whenCut();
      expect(await failures()).toBe(count);
    }
    await cancel(queue, 'failing');
    await noteFailure(queue, shard);
    expect(await failures()).toBe(2);
    expect(await queue.redis.keys('unit:failures:*')).toEqual([]);
  });

  it('refuses a shard with too few episodes when it is collected', async () => {
    const shard = await submit('short');
    await storeResult(queue, shard, await resultWith(3), 'here');
    const options = { file: '', process: '', hasEnded: () => false, openStore: null };
    const collector = await Collector.open(queue, 'short', options);
    const read = async () => {
      for await (const _ of collector.lines());
    };
    await expect(read()).rejects.toThrow(
      /^Expected shard 0 of short to have 4 episodes, got 3\. Cancel the job/,
    );
    await collector.close();
  });

  it('keeps the first of two recordings of an episode, and no recording after the shard has a result', async () => {
    const shard = await submit('twice');
    const [one, other] = [await ModelEpisodes.open(queue, shard), await ModelEpisodes.open(queue, shard)];
    await one.add(episodes[0]);
    await one.saved();
    const [step, ...rest] = episodes[0].steps;
    const secondRecording = { ...episodes[0], steps: [{ ...step, completion: 'another answer' }, ...rest] };
    await other.add(secondRecording);
    await other.saved();
    expect(other.all()).toEqual(one.all());
    expect(await storeResult(queue, shard, await resultWith(4), 'here')).toBe('stored');
    await other.add(episodes[1]);
    await other.saved();
    await expect(other.add(episodes[2])).rejects.toThrow(/got a shard that has a result/);
    expect(await queue.redis.keys('unit:episodes:twice:*')).toEqual([]);
    expect(await storeResult(queue, shard, await resultWith(4), 'here')).toBe('same');
    expect(await storeResult(queue, shard, await resultWith(3), 'here')).toBe('different');
  });
});
