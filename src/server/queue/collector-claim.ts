/**
 * Claims of jobs. A claim makes a collector the only collector of a job. A claim expires, so that another collector can
 * continue if the machine of the first collector is lost. keys.ts describes the keys of the scripts.
 */
import type { Queue, StoredJob } from './job-store.js';
import { jobKeys, openKey } from './keys.js';
import { QueueError } from './queue-error.js';
import { untilAccepted } from './redis-retry.js';
import { NOW, RECORD_MS } from './scripts.js';

/** Identifies a collector: its process, and the file that it writes. */
export interface CollectorId {
  /** HOST:PATH of the file; '' for a stream. */
  readonly file: string;
  /** The process of the collector, for `hasEnded`. */
  readonly process: string;
  /** Returns whether the process of another collector is known to have ended. */
  readonly hasEnded: (process: string) => boolean;
}

/** A collector's claim of a job. */
export interface Claim extends CollectorId {
  readonly job: StoredJob;
  /** The random id of the collector. */
  readonly id: string;
}

/**
 * Milliseconds until a claim expires. Chosen by hand: with less, a slow collector loses its claim; with more, another collector
 * waits longer after a crash.
 */
const CLAIM_MS = 30_000;

/**
 * Claims a job for a collector: sets the claim to "ID PROCESS FILE". The first write must be one that Redis allows when its
 * memory is full: then the script's other writes are allowed too. KEYS: job, collector, results, digests. ARGV: id, process,
 * file, milliseconds, submission, id of a collector whose process has ended. Returns {'ok'}; {'ended'}; {'busy', id, process,
 * file} of another collector; or {'elsewhere', file} if results were collected for this other file. A collected result has
 * only its digest left.
 */
const CLAIM = `
local state, submission, file = unpack(redis.call('HMGET', KEYS[1], 'state', 'submission', 'collector_file'))
if state ~= 'open' or submission ~= ARGV[5] then return {'ended'} end
local holder = redis.call('GET', KEYS[2])
if holder then
  local id, process, path = string.match(holder, '^(%S+) (%S+) (.*)$')
  if id ~= ARGV[1] and id ~= ARGV[6] then return {'busy', id, process, path} end
end
local collected = redis.call('HLEN', KEYS[4]) > redis.call('HLEN', KEYS[3])
if file and file ~= ARGV[3] and collected then return {'elsewhere', file} end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3], 'PX', ARGV[4])
redis.call('HSET', KEYS[1], 'collector_file', ARGV[3])
return {'ok'}
`;

/** Beginning of a script: sets `isHeld`, whether the claim of KEYS[1] has the id of ARGV[1]. */
const IS_HELD = `local isHeld = string.match(redis.call('GET', KEYS[1]) or '', '^%S+') == ARGV[1]
`;

/** Extends a claim. KEYS: collector. ARGV: id, milliseconds. */
const EXTEND = `${IS_HELD}
if isHeld then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`;

/**
 * Removes results that the collector has on disk. KEYS: collector, results. ARGV: id, then indices. Returns 1, or 0 and removes
 * nothing if the collector no longer holds the job.
 */
const TAKE = `${IS_HELD}
if not isHeld then return 0 end
redis.call('HDEL', KEYS[2], unpack(ARGV, 2))
return 1
`;

/** Gives a claim up. KEYS: collector. ARGV: id. */
const RELEASE = `${IS_HELD}
if isHeld then redis.call('DEL', KEYS[1]) end
`;

/**
 * Notes that a file is complete, and removes the data. Does nothing if the job was submitted again. KEYS: job, open, then the
 * keys to remove. ARGV: name, submission, file, SHA-256, spent dollars or ''.
 */
const FINISH = `${NOW}
if redis.call('HGET', KEYS[1], 'submission') ~= ARGV[2] then return end
redis.call('UNLINK', unpack(KEYS, 3))
redis.call('SREM', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'state', 'collected', 'collected_at', now, 'file', ARGV[3], 'sha256', ARGV[4])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'spent', ARGV[5]) end
redis.call('PEXPIRE', KEYS[1], ${RECORD_MS})
`;

/**
 * Marks the shards with collected results as unfinished. KEYS: job, collector, results, digests. Returns the number of these
 * shards, or {id, process, file} of a running collector.
 */
const FORGET = `
local holder = redis.call('GET', KEYS[2])
if holder then return {string.match(holder, '^(%S+) (%S+) (.*)$')} end
local count = 0
for _, index in ipairs(redis.call('HKEYS', KEYS[4])) do
  if redis.call('HEXISTS', KEYS[3], index) == 0 then count = count + redis.call('HDEL', KEYS[4], index) end
end
redis.call('HDEL', KEYS[1], 'collector_file')
return count
`;

/**
 * Claims a job, even if a collector whose process has ended still has a claim.
 * @throws QueueError if the job has ended, if another collector runs, or if results were collected for another file.
 */
export async function claim({ redis, prefix }: Queue, own: Claim): Promise<void> {
  const { id, process, file, job, hasEnded } = own;
  const { job: key, collector, results, digests } = jobKeys(prefix, job.name);
  const keys = [key, collector, results, digests];
  for (let endedId = ''; ; ) {
    const args = [id, process, file, CLAIM_MS, job.submission, endedId];
    const answer = await untilAccepted(() => redis.eval(CLAIM, keys.length, ...keys, ...args));
    const [verdict, ...rest] = answer as string[];
    if (verdict === 'ok') return;
    if (verdict === 'elsewhere') throw collectedElsewhere(job.name, rest[0]);
    if (verdict === 'ended')
      throw new QueueError(
        `Expected the job ${job.name} to run, got a job that has ended. Run the command again.`,
      );
    const [holderId, holderProcess, holderFile] = rest;
    if (!hasEnded(holderProcess)) throw otherCollector(job.name, holderFile);
    endedId = holderId;
  }
}

/** Extends a claim, unless it has expired: then another collector may have claimed the job. */
export const extendClaim = ({ redis, prefix }: Queue, { job, id }: Claim): Promise<unknown> =>
  redis.eval(EXTEND, 1, jobKeys(prefix, job.name).collector, id, CLAIM_MS);

/** Removes results from Redis that are on disk. @returns whether the collector still holds the job. */
export async function takeResults(
  { redis, prefix }: Queue,
  { job, id }: Claim,
  indices: readonly number[],
): Promise<boolean> {
  const { collector, results } = jobKeys(prefix, job.name);
  return (await redis.eval(TAKE, 2, collector, results, id, ...indices)) === 1;
}

/** Gives a claim up, so that another collector can begin. */
export const releaseClaim = ({ redis, prefix }: Queue, { job, id }: Claim): Promise<unknown> =>
  redis.eval(RELEASE, 1, jobKeys(prefix, job.name).collector, id);

/** Notes that the file of a job is complete, and removes the job's data from Redis. @param spent in dollars. */
export async function finishJob(
  { redis, prefix }: Queue,
  { job, file }: Claim,
  sha256: string,
  spent: number | null,
): Promise<void> {
  const { job: key, ...data } = jobKeys(prefix, job.name);
  const keys = [key, openKey(prefix), ...Object.values(data)];
  await redis.eval(FINISH, keys.length, ...keys, job.name, job.submission, file, sha256, spent ?? '');
}

/**
 * Marks those shards of an open job as unfinished whose results were collected, so that they are computed again.
 * @returns the number of these shards. @throws QueueError while a collector runs.
 */
export async function forgetCollected({ redis, prefix }: Queue, name: string): Promise<number> {
  const { job, collector, results, digests } = jobKeys(prefix, name);
  const answer = (await redis.eval(FORGET, 4, job, collector, results, digests)) as number | string[];
  if (typeof answer === 'number') return answer;
  throw otherCollector(name, answer[2]);
}

function otherCollector(name: string, file: string): QueueError {
  const what = file === '' ? 'a collector that writes to a stream' : `a collector that writes ${file}`;
  return new QueueError(
    `Expected no other collector of ${name}, got ${what}. Wait for it; if it was killed, run the command again in ${CLAIM_MS / 1000} seconds.`,
  );
}

const collectedElsewhere = (name: string, file: string): QueueError =>
  new QueueError(
    `Expected all results of ${name} in Redis, got results that were collected for ${file}. Run "queue collect" there with that --output: it ` +
      'continues. If that file and its .shards are lost, submit the job with --again to compute the results again.',
  );
