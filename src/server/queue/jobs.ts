/** Jobs in Redis: their records, the results of their shards, and the keys of both. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { isTemporary, QueueError, untilAccepted } from './connection.js';

/** A queue on an open connection. All keys begin with the prefix. */
export interface Queue {
  readonly redis: Redis;
  readonly prefix: string;
}

/** The version of the package, and the SHA-256 of the world, hexadecimal. All open jobs of a queue have the same. */
export interface Release {
  readonly version: string;
  readonly world: string;
}

/** A job as it is submitted: a command that can compute one of several shards of its file. */
export interface JobRecord extends Release {
  readonly name: string;
  /** The command, such as "dataset grpo". */
  readonly command: string;
  /** JSON: the options that determine the file. */
  readonly options: string;
  /** JSON: the options that change no result. A later submission replaces them. */
  readonly settings: string;
  readonly shards: number;
  /** The number of episodes or rows of all shards. */
  readonly rows: number;
  /** 1 to 1000. Jobs with a lower number go first. */
  readonly priority: number;
}

/** 'open': submitted, and neither collected nor cancelled. */
export type JobState = 'open' | 'collected' | 'cancelled';

/** A job as Redis has it. Times are in milliseconds since 1970; null before the event. */
export interface StoredJob extends JobRecord {
  readonly state: JobState;
  /** Identifies the submission. A job that is submitted again after it was collected or cancelled has another submission. */
  readonly submission: string;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  /** Milliseconds of compute of all finished shards. */
  readonly computeMs: number;
  /** Failed attempts so far. */
  readonly failures: number;
  /** The file of a collected job as HOST:PATH, the SHA-256 of the file, and the time. */
  readonly file: string | null;
  readonly sha256: string | null;
  readonly collectedAt: number | null;
  /** Dollars that a collected job of a language model has spent. */
  readonly spent: number | null;
}

/** A shard, as BullMQ stores it. */
export interface ShardData {
  /** The job's name. */
  readonly job: string;
  /** The job's submission. A shard of an earlier submission is not computed. */
  readonly submission: string;
  readonly index: number;
}

/** A finished shard. */
export interface ShardResult {
  /** SHA-256 of the file, 32 bytes. */
  readonly digest: Uint8Array;
  /** The compressed file, and its manifest as JSON. */
  readonly compressed: Uint8Array;
  readonly manifest: string;
  readonly computeMs: number;
}

/** The name of BullMQ's queue. Its keys begin with `PREFIX:shards:`. */
export const SHARDS = 'shards';
/** BullMQ's id of a shard, and its key of the shard's lock. */
export const shardId = ({ job, submission, index }: ShardData): string => `${job}-${submission}-${index}`;
export const lockKey = (prefix: string, shard: ShardData): string =>
  `${prefix}:${SHARDS}:${shardId(shard)}:lock`;

/** Hash: a job's record. */
const jobKey = (prefix: string, name: string): string => `${prefix}:job:${name}`;
/** Set: the names of the open jobs. Sorted set: the names of all known jobs, by the time of submission. */
const openKey = (prefix: string): string => `${prefix}:open`;
const namesKey = (prefix: string): string => `${prefix}:jobs`;

/** The keys of a submission's data, which are removed when the job is collected or cancelled. */
export function dataKeys(prefix: string, { name, submission }: Pick<StoredJob, 'name' | 'submission'>) {
  const keyOf = (what: string): string => `${prefix}:${what}:${name}:${submission}`;
  return {
    /** Hash by shard: SHA-256 and compressed file. */
    results: keyOf('results'),
    /** Hash by shard: the manifest. */
    manifests: keyOf('manifests'),
    /** Hash by shard: the machine that gave other bytes when it computed the shard again. */
    differences: keyOf('differences'),
    /** List: when the latest shards finished, in milliseconds, the latest first. */
    finished: keyOf('finished'),
    /** Hash: the limits and the spending of a language model: model-limits.ts. */
    ledger: keyOf('ledger'),
    /** Hash: the maximum cost of each pending request. */
    held: keyOf('held'),
    /** Text that expires: while it exists, no worker sends a request to the language model. */
    pause: keyOf('pause'),
    /** Sorted set: the requests that count for the rate limit, by the time after which they no longer count. */
    places: keyOf('rate'),
  };
}

/** List: the answers of a language model in a shard that is not finished (StoredAnswers). */
export const answersKey = (prefix: string, { job, submission, index }: ShardData): string =>
  `${prefix}:answers:${job}:${submission}:${index}`;

/** Milliseconds after which the record of a collected or cancelled job is dropped: 30 days, chosen by hand. */
const RECORD_MS = 30 * 24 * 3600 * 1000;
/**
 * The number of intervals between finished shards from which `status` computes the shards per second. Chosen by hand: with
 * more, the figure fluctuates less and follows a change later.
 */
const RECENT = 64;
/** The length of a submission's random name in bytes, chosen by hand: equal names are very unlikely. */
const SUBMISSION_BYTES = 6;
/** The length of a SHA-256 in bytes. */
const DIGEST_BYTES = 32;

/** Registers a job, or changes the settings of an open job. @returns the job now, and as it was before. @throws QueueError. */
export async function registerJob(
  queue: Queue,
  record: JobRecord,
): Promise<{ readonly job: StoredJob; readonly before: StoredJob | null }> {
  const { redis, prefix } = queue;
  const { name, settings } = record;
  const key = jobKey(prefix, name);
  await checkRelease(queue, record);
  const before = await readJob(queue, name);
  if (before?.state === 'open') {
    await redis.hset(key, 'settings', settings);
  } else {
    const submission = randomBytes(SUBMISSION_BYTES).toString('hex');
    const now = Date.now();
    await redis
      .multi()
      .del(key)
      .hset(key, { ...record, state: 'open', submission, submittedAt: now })
      .sadd(openKey(prefix), name)
      .zadd(namesKey(prefix), now, name)
      .exec();
  }
  return { job: (await readJob(queue, name))!, before };
}

/** Returns a job; null if no job has this name. */
export async function readJob({ redis, prefix }: Queue, name: string): Promise<StoredJob | null> {
  const fields = await redis.hgetall(jobKey(prefix, name));
  if (fields.state === undefined) return null;
  const numberOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
  return {
    ...(fields as unknown as StoredJob),
    shards: Number(fields.shards),
    rows: Number(fields.rows),
    priority: Number(fields.priority),
    submittedAt: Number(fields.submittedAt),
    startedAt: numberOf(fields.startedAt),
    collectedAt: numberOf(fields.collectedAt),
    computeMs: Number(fields.computeMs ?? 0),
    failures: Number(fields.failures ?? 0),
    file: fields.file ?? null,
    sha256: fields.sha256 ?? null,
    spent: numberOf(fields.spent),
  };
}

/** Returns the names of all known jobs, the oldest first, and removes the names whose records have expired. */
export async function jobNames(queue: Queue): Promise<string[]> {
  const { redis, prefix } = queue;
  const known: string[] = [];
  for (const name of await redis.zrange(namesKey(prefix), 0, -1)) {
    if ((await redis.exists(jobKey(prefix, name))) === 1) known.push(name);
    else await redis.zrem(namesKey(prefix), name);
  }
  return known;
}

/** Refuses a queue that has open jobs of another version or world. @throws QueueError. */
export async function checkRelease(queue: Queue, here: Release): Promise<void> {
  const { redis, prefix } = queue;
  for (const name of await redis.smembers(openKey(prefix))) {
    const job = await readJob(queue, name);
    if (job?.state !== 'open' || (job.version === here.version && job.world === here.world)) continue;
    const text = ({ version, world }: Release): string => `version ${version}, world ${world.slice(0, 12)}`;
    throw new QueueError(
      `Expected the queue "${prefix}" to have jobs of this program (${text(here)}), got ${name} of ${text(job)}. ` +
        'Run that version, or pass another --prefix.',
    );
  }
}

/** Returns whether a shard's result is still needed: its job is open, and was not submitted again since. */
export async function isCurrent({ redis, prefix }: Queue, { job, submission }: ShardData): Promise<boolean> {
  const [state, current] = await redis.hmget(jobKey(prefix, job), 'state', 'submission');
  return state === 'open' && current === submission;
}

/** Counts a failed attempt at a shard. */
export async function noteFailure(queue: Queue, shard: ShardData): Promise<void> {
  if (await isCurrent(queue, shard))
    await queue.redis.hincrby(jobKey(queue.prefix, shard.job), 'failures', 1);
}

const keysOfShard = (prefix: string, { job, submission }: ShardData) =>
  dataKeys(prefix, { name: job, submission });

/** Returns whether a shard has a result. */
export const hasResult = async ({ redis, prefix }: Queue, shard: ShardData): Promise<boolean> =>
  (await redis.hexists(keysOfShard(prefix, shard).results, String(shard.index))) === 1;

/** Returns the indices of the shards with a result. */
export const finishedShards = async ({ redis, prefix }: Queue, job: StoredJob): Promise<Set<number>> =>
  new Set((await redis.hkeys(dataKeys(prefix, job).results)).map(Number));

/**
 * Stores a shard's result and removes its answers, or compares it with the stored result. Does nothing if it is not needed.
 * @param machine the machine that computed it, which is stored if the results differ. @returns whether the results are equal.
 */
export async function storeResult(
  queue: Queue,
  shard: ShardData,
  { digest, compressed, manifest, computeMs }: ShardResult,
  machine: string,
): Promise<boolean> {
  if (!(await isCurrent(queue, shard))) return true;
  const { redis, prefix } = queue;
  const { results, manifests, differences, finished } = keysOfShard(prefix, shard);
  const field = String(shard.index);
  await redis.hset(manifests, field, manifest);
  if ((await redis.hsetnx(results, field, Buffer.concat([digest, compressed]))) === 0) {
    const stored = await readResult(queue, shard);
    if (stored === null || Buffer.compare(stored.digest, digest) === 0) return true;
    await redis.hset(differences, field, machine);
    return false;
  }
  const now = Date.now();
  await redis
    .multi()
    .hincrby(jobKey(prefix, shard.job), 'computeMs', Math.round(computeMs))
    .hsetnx(jobKey(prefix, shard.job), 'startedAt', Math.round(now - computeMs))
    .lpush(finished, now)
    .ltrim(finished, 0, RECENT)
    .unlink(answersKey(prefix, shard))
    .exec();
  // The job may have ended while its result was stored.
  if (!(await isCurrent(queue, shard)))
    await removeData(queue, { name: shard.job, submission: shard.submission });
  return true;
}

/** Returns the result of a shard; null if Redis has none. */
export async function readResult(
  { redis, prefix }: Queue,
  shard: ShardData,
): Promise<Omit<ShardResult, 'computeMs'> | null> {
  const { results, manifests } = keysOfShard(prefix, shard);
  const value = await redis.hgetBuffer(results, String(shard.index));
  const manifest = await redis.hget(manifests, String(shard.index));
  if (value === null || manifest === null) return null;
  return { digest: value.subarray(0, DIGEST_BYTES), compressed: value.subarray(DIGEST_BYTES), manifest };
}

/** Records that the file of a job is complete, and removes the job's data. @param spent dollars; null without a model. */
export async function finishJob(
  queue: Queue,
  job: StoredJob,
  { file, sha256, spent }: Pick<StoredJob, 'file' | 'sha256' | 'spent'>,
): Promise<void> {
  if (!(await isCurrent(queue, { ...job, job: job.name, index: 0 }))) return;
  const fields = {
    state: 'collected',
    file,
    sha256,
    collectedAt: Date.now(),
    ...(spent === null ? {} : { spent }),
  };
  await endJob(queue, job, fields as Record<string, string | number>);
}

/** Marks an open job as cancelled, and removes its data. */
export const cancelJob = (queue: Queue, job: StoredJob): Promise<void> =>
  endJob(queue, job, { state: 'cancelled' });

async function endJob(queue: Queue, job: StoredJob, fields: Record<string, string | number>): Promise<void> {
  const { redis, prefix } = queue;
  const key = jobKey(prefix, job.name);
  const mark = () =>
    redis.multi().hset(key, fields).srem(openKey(prefix), job.name).pexpire(key, RECORD_MS).exec();
  const remove = async (): Promise<void> => {
    await removeData(queue, job);
    for (let index = 0; index < job.shards; index++)
      await redis.unlink(answersKey(prefix, { job: job.name, submission: job.submission, index }));
  };
  try {
    await mark();
  } catch (error) {
    if (!isTemporary(error)) throw error;
    // A full Redis accepts the mark only after the data is removed.
    await remove();
    await untilAccepted(mark);
  }
  await remove();
}

const removeData = ({ redis, prefix }: Queue, job: Pick<StoredJob, 'name' | 'submission'>): Promise<number> =>
  redis.unlink(...Object.values(dataKeys(prefix, job)));

/** The maximum number of jobs that an error lists. Chosen by hand, to keep the error short. */
const LISTED = 5;

/** Returns a job. @throws QueueError if no job has this name. */
export async function findJob(queue: Queue, name: string): Promise<StoredJob> {
  const job = await readJob(queue, name);
  if (job !== null) return job;
  const names = await jobNames(queue);
  const known =
    names.length === 0
      ? 'the queue has no job'
      : `the ${names.length > LISTED ? 'last ' : ''}jobs of the queue are ${names.slice(-LISTED).join(', ')}`;
  throw new QueueError(
    `Expected a job of the queue "${queue.prefix}", got ${JSON.stringify(name)}; ${known}. ` +
      'Pass a name that "queue submit" printed, and its --redis and --prefix.',
  );
}
