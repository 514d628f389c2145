/** Runs in each thread of `rhythm-vec queue work` that computes shards. The main thread sends the shards. */
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { ShardRows } from '../../server/jobs/check-rows.js';
import type { EpisodeJob, RunnableJob } from '../../server/jobs/job.js';
import { runShard, type ShardBatch } from '../../server/jobs/run.js';
import type { Shard } from '../../server/jobs/shard.js';
import { withRedis } from '../../server/queue/connection.js';
import type { Queue } from '../../server/queue/job-store.js';
import { ModelEpisodes } from '../../server/queue/model-episodes.js';
import { checkRows, packEpisodes, packResult, rowsIn } from '../../server/queue/result-codec.js';
import { type ComputeOptions, serveShards } from '../../server/queue/serve-shards.js';
import type { ShardTask } from '../../server/queue/shard-messages.js';
import { SharedLedger, SharedPauses } from '../../server/queue/shared-ledger.js';
import { LLM_DEFAULTS, prepareModel } from '../llm/llm-options.js';
import { flagsOf, type RunSettings } from './run-settings.js';

serveShards(async (task, options) => {
  const job = JSON.parse(task.job) as RunnableJob;
  if (!hasModel(job)) return computeShard(job, task, options);
  const { address } = task;
  return withRedis(address, (redis) => playShard(job, task, { redis, prefix: address.prefix }, options));
});

const hasModel = (job: RunnableJob): job is EpisodeJob =>
  (job.kind === 'teach' || job.kind === 'eval') && job.options.model !== null;

/** Computes a shard without a language model. */
async function computeShard(
  job: RunnableJob,
  task: ShardTask,
  { signal, onProgress }: ComputeOptions,
): Promise<Buffer> {
  const { engine } = task;
  const batches: ShardBatch[] = [];
  for await (const batch of runShard(job, shardOf(task), { engine, signal, onProgress })) batches.push(batch);
  const result = packResult(batches);
  check(task, rowsIn(result));
  return result;
}

const shardOf = ({ shard, count }: ShardTask): Shard => ({ index: shard.index, count });

/** Checks that the rows are those of the shard. @throws QueueError. */
const check = ({ shard, job, count }: ShardTask, rows: ShardRows): void =>
  checkRows({ name: shard.job, job, shards: count }, shard.index, rows);

/**
 * Plays the episodes of a shard whose job has a language model, except the model's episodes that an earlier attempt has stored.
 */
async function playShard(
  job: EpisodeJob,
  task: ShardTask,
  queue: Queue,
  { signal, onProgress, onSaving }: ComputeOptions,
): Promise<Buffer> {
  const { shard, token, engine, settings } = task;
  const { sampling, prices } = job.options.model!;
  const flags = flagsOf(JSON.parse(settings) as RunSettings, sampling);
  const openModel = await prepareModel(modelOf(job), flags);
  const episodes = await ModelEpisodes.open(queue, shard);
  await using replayer = new EpisodeReplayer(engine);
  const timeoutMs = (flags.timeout ?? LLM_DEFAULTS.timeout) * 1000;
  await using ledger = await SharedLedger.open(queue, { shard, token, timeoutMs }, prices);
  const { model } = openModel({}, { ledger, rateLimiter: new SharedPauses(queue, shard.job) });
  const llm = {
    model,
    concurrency: flags.concurrency ?? LLM_DEFAULTS.concurrency,
    has: (key: string) => episodes.has(key),
    played: episodes.read(replayer),
    append: (episode: Parameters<typeof toCompact>[0]) => episodes.add(episode),
  };
  signal.addEventListener('abort', () => episodes.isSaving && onSaving());
  const others: CompactEpisode[] = [];
  try {
    for await (const batch of runShard(job, shardOf(task), { engine, signal, onProgress, llm })) {
      others.push(...batch.episodes.filter((episode) => episode.model === null).map(toCompact));
    }
  } finally {
    await episodes.saved();
  }
  const all = [...episodes.all(), ...others];
  check(task, { episodes: all });
  return packEpisodes(all);
}

/** Returns the name of a job's language model. */
function modelOf({ kind, options }: EpisodeJob): string {
  const names = kind === 'teach' ? [options.policy] : options.policies;
  return names.find((name) => name.startsWith(MODEL_PREFIX))!.slice(MODEL_PREFIX.length);
}
