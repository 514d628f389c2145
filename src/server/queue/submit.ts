/** Submits jobs: registers them in Redis and adds their shards to the queue. */
import { forgetCollected } from './collector-claim.js';
import { loadQueues, type QueueAddress, withRedis } from './connection.js';
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
import { QueueError } from './queue-error.js';
import { type SharedLimits, setLimits } from './shared-ledger.js';

/** The number of shards that are added in one command. Chosen by hand: during a command Redis serves no other client. */
const BULK = 500;
/**
 * The number of attempts at a shard, and the first wait before a retry in milliseconds. Each further wait is twice as long.
 * `jitter` shortens each wait at random, by at most half. Chosen by hand: a shard fails after at most 15 seconds of waits.
 */
const ATTEMPTS = 5;
const BACK_OFF = { type: 'exponential', delay: 1000, jitter: 0.5 } as const;

/** What a submission did. */
export interface Submission {
  /** The job before the submission: its state and, if it was open, its settings. */
  readonly before: JobBefore;
  /** The job now. A job that was open before keeps its number of shards and its priority. */
  readonly job: JobRecord;
  /** The number of shards that had failed and are tried again. */
  readonly retried: number;
  /** The number of shards whose collected results are computed again. */
  readonly forgotten: number;
}

export interface SubmitJobOptions {
  /** The limits of a language model's job. */
  readonly limits?: SharedLimits;
  /**
   * Whether a language model's job may be paid for again after `queue collect` has finished it, and whether results of an open
   * job that `queue collect` has moved out of Redis are computed again.
   */
  readonly again?: boolean;
}

/**
 * Submits a job. If the job is open already, its missing shards are added and its failed shards are tried again. This also
 * completes a submission that was interrupted.
 * @throws QueueError, also for a language model's job that was collected, unless `again`; LibraryError.
 */
export async function submitJob(
  address: QueueAddress,
  release: Release,
  given: JobRecord,
  { limits, again = false }: SubmitJobOptions = {},
): Promise<Submission> {
  const { bullmq } = await loadQueues();
  return withRedis(address, async (redis) => {
    const queue: Queue = { redis, prefix: address.prefix };
    const shards = new bullmq.Queue<ShardData>(SHARDS, { connection: redis, prefix: address.prefix });
    try {
      if (limits !== undefined && !again) await checkNotCollected(queue, given.name);
      const before = await registerJob(queue, release, given);
      // The record of a job that was open already may differ from `given`.
      const record = await readJob(queue, given.name);
      // The job may have ended meanwhile.
      if (record?.state !== 'open') return { before, job: given, retried: 0, forgotten: 0 };
      const isOpen = before.state === 'open';
      const forgotten = again && isOpen ? await forgetCollected(queue, record.name) : 0;
      if (limits !== undefined) await setLimits(queue, record.name, limits);
      const failed = (await shards.getFailed()).filter(({ data }) => data.job === record.name);
      for (const shard of failed) await shards.remove(shard.id!);
      const finished = isOpen ? await finishedShards(queue, record.name) : new Set<number>();
      const missing = Array.from({ length: record.shards }, (_, index) => index).filter(
        (index) => !finished.has(index),
      );
      for (let at = 0; at < missing.length; at += BULK) {
        await shards.addBulk(missing.slice(at, at + BULK).map((index) => entryOf(record, index)));
      }
      const retried = failed.filter(({ data }) => data.submission === record.submission).length;
      return { before, job: record, retried, forgotten };
    } finally {
      await shards.close();
    }
  });
}

/** Checks that the answers of a job were not paid for and collected before. @throws QueueError. */
async function checkNotCollected(queue: Queue, name: string): Promise<void> {
  const job = await readJob(queue, name);
  if (job?.state !== 'collected') return;
  throw new QueueError(
    `Expected a job that was not collected, got ${name}, which was collected into ${job.file} (SHA-256 ${job.sha256}). ` +
      'Copy that file. If it is lost, pass --again to play the episodes and pay for them again.',
  );
}

function entryOf({ name, submission, kind, priority }: StoredJob, index: number) {
  const data: ShardData = { job: name, submission, index };
  const opts = { jobId: shardId(data), priority, attempts: ATTEMPTS, backoff: BACK_OFF };
  // BullMQ drops a shard that is finished, and stores no stack traces of failures.
  return { name: kind, data, opts: { ...opts, removeOnComplete: true, stackTraceLimit: 0 } };
}
