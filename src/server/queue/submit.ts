/** Submits jobs. */
import { connect, loadQueues, type QueueAddress } from './connection.js';
import {
  finishedShards,
  type JobBefore,
  type JobRecord,
  type Queue,
  type Release,
  readJob,
  registerJob,
  type StoredJob,
} from './job-store.js';
import { SHARDS, type ShardData, shardId } from './keys.js';
import { type SharedLimits, setLimits } from './shared-ledger.js';

/** Shards that are added in one command. */
const BULK = 500;
/** Attempts of a shard, and the first wait before a retry in milliseconds; each further wait is twice as long. */
const ATTEMPTS = 5;
const BACK_OFF = { type: 'exponential', delay: 1000, jitter: 0.5 } as const;

/** What a submission did. */
export interface Submission {
  readonly before: JobBefore;
  /** The job now. An open job keeps its shards and its priority. */
  readonly job: JobRecord;
  /** Shards that had failed and are tried again. */
  readonly retried: number;
}

/**
 * Submits a job. A job that is already there is completed: shards that are missing are added, failed shards are tried
 * again. A submission that was interrupted is repeated in the same way.
 * @param limits of a language model's job. @throws QueueError; LibraryError.
 */
export async function submitJob(
  address: QueueAddress,
  release: Release,
  given: JobRecord,
  limits?: SharedLimits,
): Promise<Submission> {
  const { bullmq } = await loadQueues();
  const redis = await connect(address);
  const queue: Queue = { redis, prefix: address.prefix };
  const shards = new bullmq.Queue<ShardData>(SHARDS, { connection: redis, prefix: address.prefix });
  try {
    const before = await registerJob(queue, release, given);
    // A job that was submitted before keeps its shards.
    const record = await readJob(queue, given.name);
    // It was cancelled meanwhile.
    if (record?.state !== 'open') return { before, job: given, retried: 0 };
    if (limits !== undefined) await setLimits(queue, record.name, limits);
    const failed = (await shards.getFailed()).filter(({ data }) => data.job === record.name);
    for (const shard of failed) await shards.remove(shard.id!);
    const finished = before.state === 'open' ? await finishedShards(queue, record.name) : new Set<number>();
    const missing = Array.from({ length: record.shards }, (_, index) => index).filter(
      (index) => !finished.has(index),
    );
    for (let at = 0; at < missing.length; at += BULK) {
      await shards.addBulk(missing.slice(at, at + BULK).map((index) => entryOf(record, index)));
    }
    return {
      before,
      job: record,
      retried: failed.filter(({ data }) => data.submission === record.submission).length,
    };
  } finally {
    await shards.close();
    redis.disconnect();
  }
}

function entryOf({ name, submission, kind, priority }: StoredJob, index: number) {
  const data: ShardData = { job: name, submission, index };
  const opts = { jobId: shardId(data), priority, attempts: ATTEMPTS, backoff: BACK_OFF };
  return { name: kind, data, opts: { ...opts, removeOnComplete: true, stackTraceLimit: 0 } };
}
