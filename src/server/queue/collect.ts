/** Collects the results of a job. */
import { createHash, randomBytes } from 'node:crypto';
import { BudgetError } from '../../agents/llm/ledger.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import { CLOCK } from '../../shared/http/clock.js';
import {
  type Claim,
  type CollectorId,
  claim,
  extendClaim,
  finishJob,
  releaseClaim,
  takeResults,
} from './collector-claim.js';
import {
  countResults,
  finishedShards,
  type Queue,
  readDifferences,
  readJob,
  readResult,
  type ShardResult,
  type StoredJob,
  waitingResults,
} from './job-store.js';
import { QueueError } from './queue-error.js';
import { untilAccepted } from './redis-retry.js';
import { checkRows, rowsIn, unpackResult } from './result-codec.js';
import { decompress } from './serve-shards.js';
import { isOverBudget, readSpending } from './shared-ledger.js';
import { failedShards, missingJob } from './status.js';

/** Milliseconds between the extensions of a claim: a third of CLAIM_MS (collector-claim.ts), so that one extension may fail. */
const EXTEND_MS = 10_000;
/**
 * Milliseconds before the number of results is read again: the first wait, and the longest. Chosen by hand: less sends more
 * requests to Redis, more notices results later.
 */
const POLL = { first: 50, last: 1000 };
/** The length of a collector's random id in bytes, chosen by hand: equal ids are very unlikely. */
const ID_BYTES = 8;
/** The number of results that are moved at once. Chosen by hand: more take more memory, fewer need more requests to Redis. */
const BATCH = 16;

/** A shard's result, as Redis and stores keep it. */
export interface CollectedResult extends Pick<ShardResult, 'digest' | 'compressed'> {
  readonly index: number;
}

/** Keeps results on disk until the collector's file is complete. */
export interface ShardStore {
  /** Returns whether the store has the result of a shard. */
  has(index: number): boolean;
  /** Adds results. They are on disk when the promise resolves. */
  add(results: readonly CollectedResult[]): Promise<void>;
  /** Reads the result of a shard. The store must have it. */
  read(index: number): Promise<CollectedResult>;
  /** The number of results. */
  readonly size: number;
  /** Where the results are, for errors. */
  readonly path: string;
  close(): Promise<void>;
  /** Removes the results. */
  remove(): Promise<void>;
}

/** A collector's identity, and where it keeps results. */
export interface CollectorTarget extends CollectorId {
  /** Opens the store, after the collector has claimed the job. Null: the results stay in Redis. */
  readonly openStore: ((job: StoredJob) => Promise<ShardStore>) | null;
}

/** Collects the results of a job, as its only collector. If it has a store, moves results from Redis to it as they arrive. */
export class Collector {
  readonly #queue: Queue;
  readonly #target: CollectorTarget;
  readonly #claim: Claim;
  readonly #timer: NodeJS.Timeout;
  #store: ShardStore | null = null;
  readonly job: StoredJob;

  private constructor(queue: Queue, job: StoredJob, target: CollectorTarget) {
    this.#queue = queue;
    this.job = job;
    this.#target = target;
    this.#claim = { ...target, job, id: randomBytes(ID_BYTES).toString('hex') };
    // Drops errors: with a store, `#move` notices if the claim has expired.
    this.#timer = setInterval(() => void extendClaim(queue, this.#claim).catch(() => {}), EXTEND_MS);
  }

  /**
   * Claims a job and opens the store.
   * @throws QueueError if the job does not exist or has ended, if another collector has claimed it, if results were collected
   *   for another file, or if finished shards are lost.
   */
  static async open(queue: Queue, name: string, target: CollectorTarget): Promise<Collector> {
    const job = await readJob(queue, name);
    if (job === null) throw await missingJob(queue, name);
    if (job.state !== 'open') throw jobEnded(job);
    const collector = new Collector(queue, job, target);
    try {
      await collector.#open();
      return collector;
    } catch (error) {
      await collector.close();
      throw error;
    }
  }

  /**
   * Claims the job and opens the store. Does so again after the claim has expired.
   * @throws QueueError as `claim`, and if neither Redis nor the store has the result of a finished shard.
   */
  async #open(): Promise<void> {
    await this.#store?.close();
    this.#store = null;
    await claim(this.#queue, this.#claim);
    if (this.#target.openStore === null) return;
    const store = await this.#target.openStore(this.job);
    this.#store = store;
    // Reads the finished shards first: a result that a worker stores in between would otherwise look lost.
    const finished = await finishedShards(this.#queue, this.job.name);
    const waiting = new Set(await waitingResults(this.#queue, this.job.name));
    const lost = [...finished].filter((index) => !waiting.has(index) && !store.has(index));
    if (lost.length > 0) throw lostShards(this.job.name, store.path, lost);
  }

  /** Returns the number of shards with a result. */
  count(): Promise<number> {
    return countResults(this.#queue, this.job.name);
  }

  /**
   * Waits until every shard has a result, and moves the results meanwhile. @param onCount called with the number of results.
   * @throws QueueError if all shards without a result have failed, if two runs of a shard gave different results, if a result
   *   is damaged or lost, if another collector has claimed the job, or if the job has ended; BudgetError if shards failed
   *   because the budget is spent; the signal's reason.
   */
  async wait(signal: AbortSignal, onCount: (count: number) => void): Promise<void> {
    const { name, shards } = this.job;
    for (let pause = POLL.first; ; pause = Math.min(POLL.last, 2 * pause)) {
      signal.throwIfAborted();
      await this.#checkDifferences();
      await this.#move(signal);
      const count = await this.count();
      onCount(count);
      if (count === shards && (this.#store === null || this.#store.size === shards)) return;
      const failed = await failedShards(this.#queue, this.job);
      // Counts again, because a shard may have got its result since the first count.
      if (failed.length > 0 && failed.length + (await this.count()) >= shards) {
        if (await isOverBudget(this.#queue, name)) throw new BudgetError(failed[0].error);
        throw allFailed(name, failed);
      }
      await this.#checkOpen();
      await CLOCK.wait(pause, signal);
    }
  }

  /**
   * Checks that the job has not ended. If it was cancelled, removes the results of the store.
   * @throws QueueError if it has ended.
   */
  async #checkOpen(): Promise<void> {
    const job = await readJob(this.#queue, this.job.name);
    const isSameSubmission = job?.submission === this.job.submission;
    if (isSameSubmission && job.state === 'open') return;
    // If the job has a new submission or no record any more, this submission was cancelled.
    const endedJob: StoredJob = isSameSubmission ? job : { ...this.job, state: 'cancelled' };
    if (endedJob.state === 'cancelled') await this.#store?.remove();
    throw jobEnded(endedJob);
  }

  /** Moves the results that are in Redis to the store. */
  async #move(signal: AbortSignal): Promise<void> {
    if (this.#store === null) return;
    const waiting = await waitingResults(this.#queue, this.job.name);
    for (let at = 0; at < waiting.length; at += BATCH) {
      signal.throwIfAborted();
      const indices = waiting.slice(at, at + BATCH);
      await this.#store.add(await this.#fetch(indices.filter((index) => !this.#store!.has(index))));
      const took = await untilAccepted(() => takeResults(this.#queue, this.#claim, indices));
      if (took) continue;
      // The claim has expired, for instance because this process was suspended. Another collector may have moved results
      // meanwhile.
      await this.#checkOpen();
      await this.#open();
      return;
    }
  }

  /** Reads and checks results in Redis. @throws QueueError for a result that is damaged or has other rows than its shard. */
  async #fetch(indices: readonly number[]): Promise<CollectedResult[]> {
    const results: CollectedResult[] = [];
    for (const index of indices) {
      const result = await readResult(this.#queue, this.job.name, index);
      // The job was cancelled, or another collector has moved the result.
      if (result === null) continue;
      checkRows(this.job, index, rowsIn(bytesOf(this.job.name, { index, ...result })));
      results.push({ index, ...result });
    }
    return results;
  }

  /** Checks that no two runs of a shard gave different bytes. @throws QueueError. */
  async #checkDifferences(): Promise<void> {
    const [first] = Object.entries(await readDifferences(this.#queue, this.job.name));
    if (first === undefined) return;
    const [index, machine] = first;
    throw new QueueError(
      `Expected every run of a shard to give the same bytes, got other bytes from ${machine} for shard ${index} of ` +
        `${this.job.name}. Compare the versions and the processors of the workers, cancel the job and submit it again.`,
    );
  }

  /**
   * Yields the bytes of the shards' files, in the order of the shards.
   * @throws QueueError if a result is damaged, or is gone because the job has ended.
   */
  async *lines(): AsyncGenerator<Uint8Array> {
    await using replayer = new EpisodeReplayer({ threads: 1 });
    for (let index = 0; index < this.job.shards; index++) {
      const result = await (this.#store?.read(index) ?? this.#readFromRedis(index));
      yield* unpackResult(bytesOf(this.job.name, result), replayer);
    }
  }

  async #readFromRedis(index: number): Promise<CollectedResult> {
    const [result] = await this.#fetch([index]);
    if (result === undefined) throw jobEnded((await readJob(this.#queue, this.job.name)) ?? this.job);
    return result;
  }

  /** Records that the file is complete on disk, and removes the job's data. */
  async finish(sha256: string): Promise<void> {
    clearInterval(this.#timer);
    const spending = await readSpending(this.#queue, this.job.name);
    await finishJob(this.#queue, this.#claim, sha256, spending?.spent ?? null);
    await this.#store?.remove();
  }

  /** Ends the collector, and keeps the results. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#store?.close();
    await releaseClaim(this.#queue, this.#claim);
  }
}

/** Returns the uncompressed result. @throws QueueError if it is damaged. */
function bytesOf(name: string, { index, digest, compressed }: CollectedResult): Buffer {
  let bytes: Buffer | null = null;
  try {
    bytes = decompress(compressed);
  } catch {
    // Reported below.
  }
  if (bytes !== null && createHash('sha256').update(bytes).digest().equals(digest)) return bytes;
  throw new QueueError(
    `Expected the result of shard ${index} of ${name} as it was stored, got other bytes. Cancel the job and submit it again.`,
  );
}

/** Returns the error for a job that is not open. */
export function jobEnded({ name, state, file, sha256, collectedAt }: StoredJob): QueueError {
  if (state !== 'collected') {
    return new QueueError(
      `Expected the job ${name} to run, got a cancelled job. Submit it again: the same command gives it the same name.`,
    );
  }
  const when = collectedAt === null ? '' : ` at ${new Date(collectedAt).toISOString()}`;
  return new QueueError(
    `Expected the results of ${name} in Redis, got a job that was collected${when} into ${file} (SHA-256 ${sha256}). ` +
      'Copy that file, or submit the job again.',
  );
}

/** The maximum number of failed or lost shards that an error lists. Chosen by hand, to keep the error short. */
const LISTED = 3;

const lostShards = (name: string, path: string, lost: readonly number[]): QueueError =>
  new QueueError(
    `Expected ${path} to have the results of ${name} that Redis no longer has, got a file without ${lost.length} of them ` +
      `(shard${lost.length === 1 ? '' : 's'} ${lost.slice(0, LISTED).join(', ')}${lost.length > LISTED ? ', ...' : ''}). ` +
      'Put the file back, or submit the job with --again to compute them again.',
  );

function allFailed(
  name: string,
  failed: readonly { readonly index: number; readonly error: string }[],
): QueueError {
  const listed = failed.slice(0, LISTED).map(({ index, error }) => `shard ${index}: ${error}`);
  const more = failed.length > LISTED ? `; and ${failed.length - LISTED} more` : '';
  return new QueueError(
    `Expected all shards of ${name} to succeed, got ${failed.length} failed (${listed.join('; ')}${more}). ` +
      'Mend the cause and submit the job again: finished shards are kept.',
  );
}
