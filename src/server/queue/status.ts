/** Reports the progress of jobs, and cancels them. */
import { loadQueues } from './connection.js';
import {
  cancelJob,
  countResults,
  type JobState,
  jobNames,
  type Queue,
  readDifferences,
  readJob,
  recentFinishes,
  type StoredJob,
} from './job-store.js';
import { SHARDS, type ShardData, shardId } from './keys.js';
import { QueueError } from './queue-error.js';
import { readSpending } from './shared-ledger.js';

/** A shard that failed in all its attempts. */
export interface FailedShard {
  readonly index: number;
  readonly attempts: number;
  readonly error: string;
}

/** The progress of a job. Numbers that are not known yet are null. */
export interface JobStatus {
  readonly name: string;
  readonly kind: string;
  readonly state: JobState;
  readonly priority: number;
  /** The number of shards. */
  readonly shards: number;
  /** The number of finished shards. */
  readonly finished: number;
  /** The number of shards that are being computed. */
  readonly active: number;
  /** The number of episodes, rows of a dataset or pieces of an audit. */
  readonly rows: number;
  /** The number of rows of finished shards, estimated from their share of all shards. */
  readonly finishedRows: number;
  /** Rows per second, over the last finished shards. */
  readonly rowsPerSecond: number | null;
  /** The estimated seconds until all shards are finished. */
  readonly secondsLeft: number | null;
  /** Seconds of compute of the finished shards. */
  readonly computeSeconds: number;
  /** The number of failed attempts, including those that were later repeated with success. */
  readonly failures: number;
  readonly failed: readonly FailedShard[];
  /** The indices of the shards that gave other bytes when they were computed again. */
  readonly different: readonly number[];
  /** Dollars that an open or collected job has spent on a model, including the maximum cost of pending requests; else null. */
  readonly spent: number | null;
  /** The budget of an open job in dollars; null for no limit, and for other jobs. */
  readonly budget: number | null;
  /** The file of a collected job as HOST:PATH; null for other jobs. */
  readonly file: string | null;
}

/** Opens BullMQ's queue for one use. */
async function withShards<Answer>(
  { redis, prefix }: Queue,
  use: (shards: import('bullmq').Queue<ShardData>) => Promise<Answer>,
): Promise<Answer> {
  const { bullmq } = await loadQueues();
  const shards = new bullmq.Queue<ShardData>(SHARDS, { connection: redis, prefix });
  try {
    return await use(shards);
  } finally {
    await shards.close();
  }
}

/** Returns the failed shards of a job, in order of index. */
export const failedShards = (queue: Queue, job: StoredJob): Promise<FailedShard[]> =>
  withShards(queue, async (shards) =>
    (await shards.getFailedCount()) === 0 ? [] : failedOf(job, await shards.getFailed()),
  );

/** Shards of several jobs, as BullMQ lists them. A shard that was removed meanwhile may be missing. */
type Shards = readonly (import('bullmq').Job<ShardData> | undefined)[];

/** Returns the shards of a job's current submission. */
const shardsOf = ({ name, submission }: StoredJob, shards: Shards) =>
  shards.flatMap((shard) =>
    shard?.data.job === name && shard.data.submission === submission ? [shard] : [],
  );

const failedOf = (job: StoredJob, shards: Shards): FailedShard[] =>
  shardsOf(job, shards)
    .map(({ data, attemptsMade, failedReason = '' }) => ({
      index: data.index,
      attempts: attemptsMade,
      error: failedReason,
    }))
    .sort((one, other) => one.index - other.index);

/** Returns the status of all jobs, or of one. @throws QueueError if there is no job of this name. */
export async function readStatus(queue: Queue, name?: string): Promise<JobStatus[]> {
  const names = name === undefined ? await jobNames(queue) : [name];
  if (names.length === 0) return [];
  const [active, failed] = await withShards(queue, (shards) =>
    Promise.all([shards.getActive(), shards.getFailed()]),
  );
  const all: JobStatus[] = [];
  for (const each of names) {
    const job = await readJob(queue, each);
    if (job === null) throw await missingJob(queue, each);
    all.push(await statusOf(queue, job, active, failed));
  }
  return all;
}

/** The maximum number of jobs that an error lists. Chosen by hand, to keep the error short. */
const LISTED = 5;

/** Returns the error for a name without a job. */
export async function missingJob(queue: Queue, name: string): Promise<QueueError> {
  const names = await jobNames(queue);
  const known =
    names.length === 0
      ? 'the queue has no job'
      : `the ${names.length > LISTED ? 'last ' : ''}jobs of the queue are ${names.slice(-LISTED).join(', ')}`;
  return new QueueError(
    `Expected a job of the queue "${queue.prefix}", got ${JSON.stringify(name)}; ${known}. ` +
      'Pass a name that "queue submit" printed, and its --redis and --prefix.',
  );
}

async function statusOf(
  queue: Queue,
  job: StoredJob,
  activeShards: Shards,
  failedShards: Shards,
): Promise<JobStatus> {
  const { name, kind, state, priority, shards, rows, computeMs, failures, file } = job;
  const finished = state === 'collected' ? shards : await countResults(queue, name);
  const shardsPerSecond = rateOf(await recentFinishes(queue, name), job);
  const spending = await readSpending(queue, name);
  const secondsLeft = shardsPerSecond === null ? null : (shards - finished) / shardsPerSecond;
  const rowsPerShard = rows / shards;
  return {
    name,
    kind,
    state,
    priority,
    shards,
    finished,
    rows,
    failures,
    file,
    spent: spending?.spent ?? job.spent,
    budget: spending?.budget ?? null,
    active: state === 'open' ? shardsOf(job, activeShards).length : 0,
    finishedRows: Math.min(rows, Math.round(finished * rowsPerShard)),
    rowsPerSecond: shardsPerSecond === null ? null : shardsPerSecond * rowsPerShard,
    secondsLeft: state === 'open' ? secondsLeft : null,
    computeSeconds: computeMs / 1000,
    failed: failedOf(job, failedShards),
    different: Object.keys(await readDifferences(queue, name)).map(Number),
  };
}

/** Returns the finished shards per second; null if unknown. @param finishes times in milliseconds, the latest first. */
function rateOf(finishes: readonly number[], { startedAt }: StoredJob): number | null {
  const [last] = finishes;
  // The rate after a single shard is computed from the time since the job started.
  const first = finishes.length > 1 ? finishes[finishes.length - 1] : startedAt;
  if (last === undefined || first === null || last <= first) return null;
  const count = finishes.length > 1 ? finishes.length - 1 : 1;
  return (1000 * count) / (last - first);
}

/** The number of shards that are removed at once. Chosen by hand: it limits the commands that wait for Redis. */
const BULK = 100;

/**
 * Cancels a job if it is open, and removes its data. Workers stop its shards within seconds. @returns the state before.
 * @throws QueueError if there is no job of this name.
 */
export async function cancel(queue: Queue, name: string): Promise<JobState> {
  const job = await readJob(queue, name);
  const state = await cancelJob(queue, name);
  if (job === null || state === 'none') throw await missingJob(queue, name);
  const { submission, shards: count } = job;
  await withShards(queue, async (shards) => {
    const ids = Array.from({ length: count }, (_, index) => shardId({ job: name, submission, index }));
    for (let at = 0; at < ids.length; at += BULK) {
      // A shard that is being computed is locked: its worker ends it.
      await Promise.allSettled(ids.slice(at, at + BULK).map((id) => shards.remove(id)));
    }
  });
  return state;
}
