/** The program of a worker's threads. */
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import type { Job, TeachJob } from '../../server/jobs/job.js';
import { runShard, type ShardBatch } from '../../server/jobs/run.js';
import { type Shard, seedsOf } from '../../server/jobs/shard.js';
import { connect } from '../../server/queue/connection.js';
import { ModelEpisodes } from '../../server/queue/model-episodes.js';
import { packEpisodes, packResult } from '../../server/queue/result-codec.js';
import { type ComputeOptions, serveShards } from '../../server/queue/serve-shards.js';
import type { ShardTask } from '../../server/queue/shard-messages.js';
import { SharedLedger, SharedPauses } from '../../server/queue/shared-ledger.js';
import { keysOf } from '../../training/teaching/llm-teacher.js';
import { NUM_STEPS } from '../../world/fields.js';
import { LLM_DEFAULTS, prepareModel } from '../llm/llm-options.js';
import { flagsOf, type RunSettings } from './run-settings.js';

serveShards((task, options) => {
  const job = JSON.parse(task.job) as Job;
  const shard = { index: task.index, count: task.count };
  return job.kind === 'teach' && job.options.model !== null
    ? playShard(job, shard, task, options)
    : computeShard(job, shard, task, options);
});

/** Computes a shard of policies of this package. */
async function computeShard(
  job: Job,
  shard: Shard,
  { engine }: ShardTask,
  options: ComputeOptions,
): Promise<Buffer> {
  const batches: ShardBatch[] = [];
  for await (const batch of runShard(job, shard, { engine, ...options })) batches.push(batch);
  return packResult(batches);
}

/** Plays the episodes of a language model that no earlier attempt has stored. */
async function playShard(
  job: TeachJob,
  shard: Shard,
  { name, token, engine, address, settings }: ShardTask,
  { signal, onProgress }: ComputeOptions,
): Promise<Buffer> {
  const redis = await connect(address);
  try {
    const queue = { redis, prefix: address.prefix };
    const { options } = job;
    const model = options.policy.slice(MODEL_PREFIX.length);
    const { sampling, prices } = options.model!;
    const flags = flagsOf(JSON.parse(settings) as RunSettings, sampling);
    const openModel = await prepareModel(model, flags);
    const episodes = await ModelEpisodes.open(
      queue,
      name,
      keysOf(seedsOf(options.seeds, shard), options.profiles, model),
    );
    await using ledger = await SharedLedger.open(queue, { name, index: shard.index, token }, prices);
    const opened = openModel({}, { ledger, rateLimiter: new SharedPauses(queue, name) });
    const total = shardSteps(job, shard);
    let steps = episodes.size * NUM_STEPS;
    const llm = {
      model: opened.model,
      concurrency: flags.concurrency ?? LLM_DEFAULTS.concurrency,
      has: (key: string) => episodes.has(key),
      onStep: () => onProgress(++steps, total),
    };
    for await (const batch of runShard(job, shard, { engine, signal, llm })) {
      for (const episode of batch.episodes) await episodes.add(episode);
    }
    return packEpisodes(await episodes.all());
  } finally {
    redis.disconnect();
  }
}

function shardSteps(job: TeachJob, shard: Shard): number {
  const { first, last } = seedsOf(job.options.seeds, shard);
  return (last - first + 1) * NUM_STEPS;
}
