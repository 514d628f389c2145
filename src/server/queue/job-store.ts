/** Reads and writes the jobs and their results in Redis. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { episodesKey, jobKeys, metaKey, namesKey, openKey, type ShardData } from './keys.js';
import { ReleaseError } from './queue-error.js';
import { CANCEL, NOTE_FAILURE, REGISTER, STORE } from './scripts.js';

/** A queue on an open connection. */
export interface Queue {
  readonly redis: Redis;
  readonly prefix: string;
}

/** The version and world of a program, or of a queue: all open jobs of a queue have the same. */
export interface Release {
  readonly version: string;
  /** SHA-256, hexadecimal. */
  readonly world: string;
}

/** A job as it is submitted. */
export interface JobRecord {
  readonly name: string;
  /** The job as JSON. */
  readonly job: string;
  /** The settings with which its shards are run, as JSON. They change no result. */
  readonly settings: string;
  readonly kind: string;
  readonly shards: number;
  /** The number of lines of all shards: episodes, rows of a dataset or pieces of an audit. */
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
  readonly collectedAt: number | null;
  /** Milliseconds of compute of all finished shards. */
  readonly computeMs: number;
  /** Failed attempts so far. */
  readonly failures: number;
  /** The file of a collected job as HOST:PATH, and the SHA-256 of the file. */
  readonly file: string | null;
  readonly sha256: string | null;
  /** Dollars that a collected job of a language model has spent. */
  readonly spent: number | null;
}

/**
 * The outcome of storing a result: it was stored; Redis already had this shard's result, with the same or with different bytes;
 * or the shard is no longer needed (see `isCurrent`).
 */
export type Stored = 'stored' | 'same' | 'different' | 'closed';

/** A result of a shard. */
export interface ShardResult {
  /** SHA-256 of the uncompressed result, 32 bytes. */
  readonly digest: Uint8Array;
  readonly compressed: Uint8Array;
  readonly computeMs: number;
}

/** The length of a SHA-256 in bytes. */
const DIGEST_BYTES = 32;
/** The length of a submission's random name in bytes, chosen by hand: equal names are very unlikely. */
const SUBMISSION_BYTES = 6;
/** The length of a failed attempt's random name in bytes, chosen by hand: equal names are very unlikely. */
const ATTEMPT_BYTES = 8;

/** Checks that the queue has no open jobs of another version or world. @throws ReleaseError. */
export async function checkRelease({ redis, prefix }: Queue, release: Release): Promise<void> {
  const [version, world] = await redis.hmget(metaKey(prefix), 'version', 'world');
  if (version === null || (version === release.version && world === release.world)) return;
  if ((await redis.scard(openKey(prefix))) > 0) refuseRelease(prefix, release, { version, world: world! });
}

function refuseRelease(prefix: string, here: Release, there: Release): never {
  const text = ({ version, world }: Release): string => `version ${version}, world ${world.slice(0, 12)}`;
  throw new ReleaseError(
    `Expected the queue "${prefix}" to have jobs of this program (${text(here)}), got jobs of ${text(there)}. ` +
      'Run that version, or pass another --prefix.',
  );
}

/** The state of a job before it was submitted. */
export interface JobBefore {
  /** 'none' for a new job. */
  readonly state: JobState | 'none';
  /** The settings of an open job. */
  readonly settings?: string;
}

/**
 * Registers a job, or changes the settings of an open job. @returns the state before.
 * @throws ReleaseError if the queue has open jobs of another version or world.
 */
export async function registerJob(
  { redis, prefix }: Queue,
  release: Release,
  record: JobRecord,
): Promise<JobBefore> {
  const { name, settings, ...fields } = record;
  const keys = [metaKey(prefix), openKey(prefix), namesKey(prefix), jobKeys(prefix, name).job];
  const submission = randomBytes(SUBMISSION_BYTES).toString('hex');
  const own = [release.version, release.world, name, submission, settings];
  const args = [...own, ...Object.entries(fields).flat()];
  const [state, ...rest] = (await redis.eval(REGISTER, keys.length, ...keys, ...args)) as string[];
  if (state !== 'foreign') return { state: state as JobState | 'none', settings: rest[0] };
  const [version, world] = rest;
  return refuseRelease(prefix, release, { version, world });
}

/** Returns a job; null if no job has this name. */
export async function readJob({ redis, prefix }: Queue, name: string): Promise<StoredJob | null> {
  const fields = await redis.hgetall(jobKeys(prefix, name).job);
  if (fields.state === undefined) return null;
  const numberOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
  return {
    name,
    job: fields.job,
    settings: fields.settings ?? '{}',
    kind: fields.kind,
    shards: Number(fields.shards),
    rows: Number(fields.rows),
    priority: Number(fields.priority),
    state: fields.state as JobState,
    submission: fields.submission,
    submittedAt: Number(fields.submitted_at),
    startedAt: numberOf(fields.started_at),
    collectedAt: numberOf(fields.collected_at),
    computeMs: Number(fields.compute_ms ?? 0),
    failures: Number(fields.failures ?? 0),
    file: fields.file ?? null,
    sha256: fields.sha256 ?? null,
    spent: numberOf(fields.spent),
  };
}

/** Returns whether the job still needs a shard's result: it is open, and was not submitted again since the shard was taken. */
export async function isCurrent(
  { redis, prefix }: Queue,
  { job, submission }: Pick<ShardData, 'job' | 'submission'>,
): Promise<boolean> {
  const [state, current] = await redis.hmget(jobKeys(prefix, job).job, 'state', 'submission');
  return state === 'open' && current === submission;
}

/** Returns the names of all known jobs, the oldest first, and removes the names whose records have expired. */
export async function jobNames(queue: Queue): Promise<string[]> {
  const { redis, prefix } = queue;
  const names = await redis.zrange(namesKey(prefix), 0, -1);
  const known: string[] = [];
  for (const name of names) {
    if ((await redis.exists(jobKeys(prefix, name).job)) === 1) known.push(name);
    else await redis.zrem(namesKey(prefix), name);
  }
  return known;
}

/** Counts a failed attempt at a shard. Does nothing if the shard is no longer needed (see `isCurrent`). */
export async function noteFailure({ redis, prefix }: Queue, { job, submission }: ShardData): Promise<void> {
  const keys = jobKeys(prefix, job);
  const attempt = randomBytes(ATTEMPT_BYTES).toString('hex');
  await redis.eval(NOTE_FAILURE, 2, keys.job, keys.failures, submission, attempt);
}

/** Returns whether a shard has a result, in Redis or already collected. */
export const hasResult = async ({ redis, prefix }: Queue, { job, index }: ShardData): Promise<boolean> =>
  (await redis.hexists(jobKeys(prefix, job).digests, String(index))) === 1;

/** Returns the indices of the shards with a result. */
export const finishedShards = async ({ redis, prefix }: Queue, name: string): Promise<Set<number>> =>
  new Set((await redis.hkeys(jobKeys(prefix, name).digests)).map(Number));

/** Returns the indices of the shards whose results are in Redis, in order. */
export const waitingResults = async ({ redis, prefix }: Queue, name: string): Promise<number[]> =>
  (await redis.hkeys(jobKeys(prefix, name).results)).map(Number).sort((one, other) => one - other);

/** Returns the number of shards with a result. */
export const countResults = ({ redis, prefix }: Queue, name: string): Promise<number> =>
  redis.hlen(jobKeys(prefix, name).digests);

/**
 * Stores a shard's result, or compares it with the stored one.
 * @param machine the machine that computed it, which is stored if the results differ.
 */
export async function storeResult(
  { redis, prefix }: Queue,
  shard: ShardData,
  { digest, compressed, computeMs }: ShardResult,
  machine: string,
): Promise<Stored> {
  const { job, results, digests, differences, finished } = jobKeys(prefix, shard.job);
  const keys = [job, results, digests, differences, finished, episodesKey(prefix, shard)];
  const value = Buffer.concat([digest, compressed]);
  const args = [shard.submission, shard.index, value, Math.round(computeMs), machine];
  return (await redis.eval(STORE, keys.length, ...keys, ...args)) as Stored;
}

/** Returns the result of a shard; null if Redis has none. */
export async function readResult(
  { redis, prefix }: Queue,
  name: string,
  index: number,
): Promise<Pick<ShardResult, 'digest' | 'compressed'> | null> {
  const value = await redis.hgetBuffer(jobKeys(prefix, name).results, String(index));
  if (value === null) return null;
  return { digest: value.subarray(0, DIGEST_BYTES), compressed: value.subarray(DIGEST_BYTES) };
}

/**
 * Returns, for each shard that gave other bytes when it was computed again, its index and the machine that computed it again.
 */
export const readDifferences = ({ redis, prefix }: Queue, name: string): Promise<Record<string, string>> =>
  redis.hgetall(jobKeys(prefix, name).differences);

/** Returns the times at which the latest shards were finished, in milliseconds since 1970, the latest first. */
export const recentFinishes = async ({ redis, prefix }: Queue, name: string): Promise<number[]> =>
  (await redis.lrange(jobKeys(prefix, name).finished, 0, -1)).map(Number);

/** Cancels a job if it is open, and removes its data from Redis, except its record. @returns the state before. */
export async function cancelJob({ redis, prefix }: Queue, name: string): Promise<JobState | 'none'> {
  const { job, ...data } = jobKeys(prefix, name);
  const keys = [job, openKey(prefix), ...Object.values(data)];
  const [shards, submission] = await redis.hmget(job, 'shards', 'submission');
  const state = (await redis.eval(CANCEL, keys.length, ...keys, name)) as JobState | 'none';
  for (let index = 0; index < Number(shards); index++) {
    await redis.unlink(episodesKey(prefix, { job: name, submission: submission!, index }));
  }
  return state;
}
