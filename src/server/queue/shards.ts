/** The shards of jobs in BullMQ's queue: added, counted and removed. */
import { loadQueues, QueueError } from './connection.js';
import {
  cancelJob,
  dataKeys,
  findJob,
  finishedShards,
  type JobRecord,
  type JobState,
  jobNames,
  type Queue,
  readJob,
  registerJob,
  SHARDS,
  type ShardData,
  type StoredJob,
  shardId,
  shardOf,
} from './jobs.js';
import { type ModelLimits, readSpending, setLimits } from './model-limits.js';

/** The number of shards that are added or removed in one command. Chosen by hand: it limits how long other clients wait. */
const BULK = 500;
/**
 * The number of attempts at a shard, and the first wait before a retry in milliseconds. Each further wait is twice as long.
 * `jitter` shortens each wait at random, by at most half. Chosen by hand: a shard fails after at most 15 seconds of waits.
 */
const ATTEMPTS = 5;
const BACK_OFF = { type: 'exponential', delay: 1000, jitter: 0.5 } as const;

type Shards = import('bullmq').Queue<ShardData>;

/** Opens BullMQ's queue for one use. */
async function withShards<Answer>(
  { redis, prefix }: Queue,
  use: (shards: Shards) => Promise<Answer>,
): Promise<Answer> {
  const { bullmq } = await loadQueues();
  const shards = new bullmq.Queue<ShardData>(SHARDS, { connection: redis, prefix });
  try {
    return await use(shards);
  } finally {
    await shards.close();
  }
}

/** What a submission did. */
export interface Submission {
  /** The job before the submission; null if there was none. */
  readonly before: StoredJob | null;
  /** The job now. A job that was open before keeps its number of shards and its priority. */
  readonly job: StoredJob;
  /** The number of shards that had failed and are tried again. */
  readonly retried: number;
}

/**
 * Submits a job. If the job is open already, its missing shards are added and its failed shards are tried again. This also
 * completes a submission that was interrupted.
 * @param limits those of a language model's job. @param again whether a language model's job may be paid for again after it was
 *   collected. @throws QueueError for a language model's job that was collected, unless `again`.
 */
export async function submitJob(
  queue: Queue,
  record: JobRecord,
  { limits, again = false }: { readonly limits?: ModelLimits; readonly again?: boolean } = {},
): Promise<Submission> {
  if (limits !== undefined && !again) await checkNotCollected(queue, record.name);
  const { job, before } = await registerJob(queue, record);
  if (limits !== undefined) await setLimits(queue, job, limits);
  const finished = await finishedShards(queue, shardOf(job));
  const missing = shardsOf(job).filter(({ index }) => !finished.has(index));
  return withShards(queue, async (shards) => {
    const failed = ofJob(job, await shards.getFailed());
    for (const shard of failed) await shards.remove(shard.id!);
    for (let at = 0; at < missing.length; at += BULK)
      await shards.addBulk(missing.slice(at, at + BULK).map((shard) => entryOf(job, shard)));
    return { before, job, retried: failed.length };
  });
}

const shardsOf = (job: StoredJob): ShardData[] =>
  Array.from({ length: job.shards }, (_, index) => shardOf(job, index));

/** Checks that the answers of a job were not paid for and collected before. @throws QueueError. */
async function checkNotCollected(queue: Queue, name: string): Promise<void> {
  const collected = (await readJob(queue, name))?.collected ?? null;
  if (collected === null) return;
  throw new QueueError(
    `Expected a job that was not collected, got ${name}, which was collected into ${collected.file} (SHA-256 ${collected.sha256}). ` +
      'Copy that file. If it is lost, pass --again to play the episodes and pay for them again.',
  );
}

function entryOf({ command, priority }: StoredJob, data: ShardData) {
  const opts = { jobId: shardId(data), priority, attempts: ATTEMPTS, backoff: BACK_OFF };
  // BullMQ drops a shard that is finished, and stores no stack traces of failures.
  return { name: command, data, opts: { ...opts, removeOnComplete: true, stackTraceLimit: 0 } };
}

/** Cancels a job if it is open, and removes its shards and data. @returns the state before. @throws QueueError for none. */
export async function cancel(queue: Queue, name: string): Promise<JobState> {
  const job = await findJob(queue, name);
  if (job.state !== 'open') return job.state;
  await cancelJob(queue, job);
  const ids = shardsOf(job).map(shardId);
  await withShards(queue, async (shards) => {
    // A shard that is being computed is locked: its worker ends it.
    for (let at = 0; at < ids.length; at += BULK)
      await Promise.allSettled(ids.slice(at, at + BULK).map((id) => shards.remove(id)));
  });
  return job.state;
}

/** A shard that failed in all its attempts. */
export interface FailedShard {
  readonly index: number;
  readonly attempts: number;
  readonly error: string;
}

/** Shards of several jobs, as BullMQ lists them. A shard that was removed meanwhile may be missing. */
type Listed = readonly (import('bullmq').Job<ShardData> | undefined)[];

/** Returns the shards of a job's current submission. */
const ofJob = ({ name, submission }: StoredJob, shards: Listed) =>
  shards.flatMap((shard) =>
    shard?.data.job === name && shard.data.submission === submission ? [shard] : [],
  );

const failedOf = (job: StoredJob, shards: Listed): FailedShard[] =>
  ofJob(job, shards)
    .map(({ data, attemptsMade, failedReason = '' }) => ({
      index: data.index,
      attempts: attemptsMade,
      error: failedReason,
    }))
    .sort((one, other) => one.index - other.index);

/** Returns the failed shards of a job, in order of index. */
export const failedShards = (queue: Queue, job: StoredJob): Promise<FailedShard[]> =>
  withShards(queue, async (shards) =>
    (await shards.getFailedCount()) === 0 ? [] : failedOf(job, await shards.getFailed()),
  );

/** The progress of a job. Numbers that are not known yet are null. */
export interface JobStatus
  extends Pick<StoredJob, 'name' | 'command' | 'state' | 'priority' | 'shards' | 'rows' | 'failures'> {
  /** HOST:PATH of the file of a collected job. */
  readonly file: string | null;
  /** The number of finished shards, and of those that are being computed. */
  readonly finished: number;
  readonly active: number;
  /** The number of rows of finished shards, estimated from their share of all shards; rows per second of the latest. */
  readonly finishedRows: number;
  readonly rowsPerSecond: number | null;
  /** The estimated seconds until all shards are finished. */
  readonly secondsLeft: number | null;
  /** Seconds of compute of the finished shards. */
  readonly computeSeconds: number;
  readonly failed: readonly FailedShard[];
  /** The indices of the shards that gave other bytes when they were computed again. */
  readonly different: readonly number[];
  /** Dollars that an open or collected job has spent on a model, including the maximum cost of pending requests; else null. */
  readonly spent: number | null;
  /** The budget of an open job in dollars; null for no limit, and for other jobs. */
  readonly budget: number | null;
}

/** Returns the status of all jobs, or of one. @throws QueueError if there is no job of this name. */
export async function readStatus(queue: Queue, name?: string): Promise<JobStatus[]> {
  const names = name === undefined ? await jobNames(queue) : [name];
  if (names.length === 0) return [];
  const lists = await withShards(queue, (shards) => Promise.all([shards.getActive(), shards.getFailed()]));
  const all: JobStatus[] = [];
  for (const each of names) all.push(await statusOf(queue, await findJob(queue, each), lists));
  return all;
}

async function statusOf(
  queue: Queue,
  job: StoredJob,
  [active, failed]: readonly Listed[],
): Promise<JobStatus> {
  const { redis, prefix } = queue;
  const { name, command, state, priority, shards, rows, computeMs, failures, collected } = job;
  const { results, finished: finishes, differences } = dataKeys(prefix, shardOf(job));
  const finished = state === 'collected' ? shards : await redis.hlen(results);
  const shardsPerSecond = rateOf((await redis.lrange(finishes, 0, -1)).map(Number), job);
  const spending = await readSpending(queue, job);
  const rowsPerShard = rows / shards;
  return {
    ...{ name, command, state, priority, shards, finished, rows, failures, file: collected?.file ?? null },
    spent: spending?.spent ?? collected?.spent ?? null,
    budget: spending?.budget ?? null,
    active: state === 'open' ? ofJob(job, active).length : 0,
    finishedRows: Math.min(rows, Math.round(finished * rowsPerShard)),
    rowsPerSecond: shardsPerSecond === null ? null : shardsPerSecond * rowsPerShard,
    secondsLeft: state === 'open' && shardsPerSecond !== null ? (shards - finished) / shardsPerSecond : null,
    computeSeconds: computeMs / 1000,
    failed: failedOf(job, failed),
    different: (await redis.hkeys(differences)).map(Number),
  };
}

/** Returns the finished shards per second; null if unknown. @param finishes times in milliseconds, the latest first. */
function rateOf(finishes: readonly number[], { startedAt }: StoredJob): number | null {
  const [last] = finishes;
  // The rate after a single shard is computed from the time since the job started.
  const first = finishes.length > 1 ? finishes[finishes.length - 1] : startedAt;
  if (last === undefined || first === null || last <= first) return null;
  return (1000 * Math.max(1, finishes.length - 1)) / (last - first);
}
