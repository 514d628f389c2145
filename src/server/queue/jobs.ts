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

/** A job as Redis has it. */
export interface StoredJob extends JobRecord {
  readonly state: JobState;
  /** Identifies the submission. A job that is submitted again after it was collected or cancelled has another submission. */
  readonly submission: string;
  /** When the first shard began, in milliseconds since 1970; null before. */
  readonly startedAt: number | null;
  /** Milliseconds of compute of all finished shards. */
  readonly computeMs: number;
  /** Failed attempts so far. */
  readonly failures: number;
  /** Null unless the job is collected. */
  readonly collected: Collected | null;
}

/** The file of a collected job. */
export interface Collected {
  /** HOST:PATH. */
  readonly file: string;
  readonly sha256: string;
  /** The time, as in ISO 8601. */
  readonly at: string;
  /** Dollars that a job of a language model has spent; null for other jobs. */
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
  /** JSON without line ends. It has the SHA-256 of the file. */
  readonly manifest: string;
  /** The compressed file. */
  readonly compressed: Uint8Array;
}

/** The name of BullMQ's queue. Its keys begin with `PREFIX:shards:`. */
export const SHARDS = 'shards';
/** Returns a shard of a job's current submission. */
export const shardOf = ({ name, submission }: StoredJob, index = 0): ShardData => ({
  job: name,
  submission,
  index,
});
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
export function dataKeys(prefix: string, { job, submission }: ShardData) {
  const keyOf = (what: string): string => `${prefix}:${what}:${job}:${submission}`;
  return {
    /** Hash by shard: the manifest, a line end and the compressed file. */
    results: keyOf('results'),
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

/** Registers a job, or changes the settings of an open job. @returns the job now, and as it was before. @throws QueueError. */
export async function registerJob(
  queue: Queue,
  { settings, ...record }: JobRecord,
): Promise<{ readonly job: StoredJob; readonly before: StoredJob | null }> {
  const { redis, prefix } = queue;
  const { name } = record;
  const key = jobKey(prefix, name);
  await checkRelease(queue, record);
  const before = await readJob(queue, name);
  if (before?.state === 'open') await redis.hset(key, 'settings', settings);
  else {
    const submission = randomBytes(SUBMISSION_BYTES).toString('hex');
    await redis
      .multi()
      .del(key)
      .hset(key, { record: JSON.stringify(record), settings, state: 'open', submission })
      .sadd(openKey(prefix), name)
      .zadd(namesKey(prefix), Date.now(), name)
      .exec();
  }
  return { job: (await readJob(queue, name))!, before };
}

/** Returns a job; null if no job has this name. */
export async function readJob({ redis, prefix }: Queue, name: string): Promise<StoredJob | null> {
  const fields = await redis.hgetall(jobKey(prefix, name));
  if (fields.state === undefined) return null;
  const {
    record,
    startedAt = 'null',
    computeMs = '0',
    failures = '0',
    collected = 'null',
    ...texts
  } = fields;
  const numbers = { startedAt, computeMs, failures, collected };
  const parsed = Object.entries(numbers).map(([key, text]) => [key, JSON.parse(text)]);
  return { ...JSON.parse(record), ...texts, ...Object.fromEntries(parsed) };
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
    if (job?.state !== 'open' || isOfRelease(job, here)) continue;
    const text = ({ version, world }: Release): string => `version ${version}, world ${world.slice(0, 12)}`;
    throw new QueueError(
      `Expected the queue "${prefix}" to have jobs of this program (${text(here)}), got ${name} of ${text(job)}. ` +
        'Run that version, or pass another --prefix.',
    );
  }
}

export const isOfRelease = (job: Release, here: Release): boolean =>
  job.version === here.version && job.world === here.world;

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

/** Returns the indices of the shards with a result. */
export const finishedShards = async ({ redis, prefix }: Queue, shard: ShardData): Promise<Set<number>> =>
  new Set((await redis.hkeys(dataKeys(prefix, shard).results)).map(Number));

/**
 * Stores a shard's result and removes its answers, or compares it with the stored result. Does nothing if it is not needed.
 * @param machine the machine that computed it, which is stored if the results differ. @returns whether the results are equal.
 */
export async function storeResult(
  queue: Queue,
  shard: ShardData,
  { manifest, compressed }: ShardResult,
  computeMs: number,
  machine: string,
): Promise<boolean> {
  if (!(await isCurrent(queue, shard))) return true;
  const { redis, prefix } = queue;
  const { results, differences, finished } = dataKeys(prefix, shard);
  const field = String(shard.index);
  const value = Buffer.concat([Buffer.from(`${manifest}\n`), compressed]);
  if ((await redis.hsetnx(results, field, value)) === 0) {
    const stored = await readResult(queue, shard);
    if (stored === null || stored.manifest === manifest) return true;
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
  if (!(await isCurrent(queue, shard))) await removeData(queue, shard);
  return true;
}

/** Returns the result of a shard; null if Redis has none. */
export async function readResult({ redis, prefix }: Queue, shard: ShardData): Promise<ShardResult | null> {
  const value = await redis.hgetBuffer(dataKeys(prefix, shard).results, String(shard.index));
  if (value === null) return null;
  const end = value.indexOf('\n');
  return { manifest: value.toString('utf8', 0, end), compressed: value.subarray(end + 1) };
}

/** Records that the file of a job is complete, and removes the job's data. */
export async function finishJob(queue: Queue, job: StoredJob, collected: Collected): Promise<void> {
  if (await isCurrent(queue, shardOf(job)))
    await endJob(queue, job, { state: 'collected', collected: JSON.stringify(collected) });
}

/** Marks an open job as cancelled, and removes its data. */
export const cancelJob = (queue: Queue, job: StoredJob): Promise<void> =>
  endJob(queue, job, { state: 'cancelled' });

async function endJob(queue: Queue, job: StoredJob, fields: Record<string, string>): Promise<void> {
  const { redis, prefix } = queue;
  const key = jobKey(prefix, job.name);
  const mark = () =>
    redis.multi().hset(key, fields).srem(openKey(prefix), job.name).pexpire(key, RECORD_MS).exec();
  const remove = async (): Promise<void> => {
    await removeData(queue, shardOf(job));
    for (let index = 0; index < job.shards; index++)
      await redis.unlink(answersKey(prefix, shardOf(job, index)));
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

const removeData = ({ redis, prefix }: Queue, shard: ShardData): Promise<number> =>
  redis.unlink(...Object.values(dataKeys(prefix, shard)));

/** The maximum number of jobs that an error lists. Chosen by hand, to keep the error short. */
const LISTED = 5;

/** Returns a job. @throws QueueError if no job has this name. */
export async function findJob(queue: Queue, name: string): Promise<StoredJob> {
  const job = await readJob(queue, name);
  if (job !== null) return job;
  const names = await jobNames(queue);
  const last = names.length > LISTED ? 'last ' : '';
  const known =
    names.length === 0
      ? 'the queue has no job'
      : `the ${last}jobs of the queue are ${names.slice(-LISTED).join(', ')}`;
  throw new QueueError(
    `Expected a job of the queue "${queue.prefix}", got ${JSON.stringify(name)}; ${known}. ` +
      'Pass a name that "queue submit" printed, and its --redis and --prefix.',
  );
}
