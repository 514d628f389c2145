/** A worker: takes shards from the queue, computes them in threads and stores their results. */
import { hostname } from 'node:os';
import type { Job, Worker } from 'bullmq';
import { CLOCK } from '../../shared/http/clock.js';
import { loadQueues, type QueueAddress, withRedis } from './connection.js';
import {
  checkRelease,
  hasResult,
  isCurrent,
  noteFailure,
  type Queue,
  type Release,
  readJob,
  storeResult,
} from './job-store.js';
import { SHARDS, type ShardData } from './keys.js';
import { QueueError, ReleaseError } from './queue-error.js';
import { isTemporary, untilAccepted } from './redis-retry.js';
import type { SentError, WorkerEngine } from './shard-messages.js';
import { ShardThreads } from './shard-threads.js';

export interface WorkOptions {
  readonly address: QueueAddress;
  readonly release: Release;
  /** The module of the threads: it calls `serveShards`. */
  readonly program: URL;
  /** Shards at a time, each in a thread of its own. */
  readonly concurrency: number;
  readonly engine: WorkerEngine;
  /** Milliseconds after which another worker takes a shard over if its lease is not renewed. */
  readonly leaseMs: number;
  /** Whether to end when no shard is left. */
  readonly untilEmpty: boolean;
  /** Called with texts about errors and waits. */
  readonly onNote: (note: string) => void;
}

/**
 * How often a shard may lose its worker before it counts as failed. Chosen by hand: a lower number fails shards whose workers
 * were stopped, a higher one retries a shard that crashes its workers for longer.
 */
const MAX_STALLS = 20;
/**
 * Milliseconds before BullMQ retries after an error of Redis. Chosen by hand: a shorter time sends more requests, a longer time
 * delays the retry.
 */
const RETRY_MS = 500;
/**
 * Milliseconds between checks whether a job was cancelled, and whether the queue is empty. Chosen by hand: a shorter time sends
 * more requests to Redis, and with a longer time the worker notices the end later.
 */
const WATCH_MS = 500;

/**
 * Computes shards until the signal aborts, until no shard is left (`untilEmpty`), or until a job of another version or world
 * comes. Shards that are being computed then go back to the queue at once.
 * @returns the number of shards that were computed. @throws QueueError; LibraryError.
 */
export async function work(options: WorkOptions, signal: AbortSignal): Promise<number> {
  const { bullmq } = await loadQueues();
  const { address, release, concurrency, leaseMs } = options;
  return withRedis(address, async (redis) => {
    const queue: Queue = { redis, prefix: address.prefix };
    await checkRelease(queue, release);
    const processor = new ShardProcessor(queue, options, bullmq);
    const worker = new bullmq.Worker<ShardData>(
      SHARDS,
      (job, token, stop) => processor.process(job, token!, stop!),
      {
        connection: redis,
        prefix: address.prefix,
        concurrency,
        lockDuration: leaseMs,
        stalledInterval: leaseMs,
        maxStalledCount: MAX_STALLS,
        runRetryDelay: RETRY_MS,
        // Seconds that BullMQ waits for a shard before it asks an empty queue again.
        drainDelay: 1,
      },
    );
    await processor.run(worker, signal);
    return processor.computed;
  });
}

/**
 * The longest wait in milliseconds for BullMQ's worker to close. Less than the time that an interrupted command has to stop
 * (`graceMs` of `Interruption`, 2 seconds).
 */
const CLOSE_MS = 1500;

/** Computes the shards that BullMQ's worker takes, up to `concurrency` at a time. */
class ShardProcessor {
  readonly #queue: Queue;
  readonly #options: WorkOptions;
  readonly #bullmq: typeof import('bullmq');
  readonly #threads: ShardThreads;
  /** The shards that are being computed, by BullMQ's id. */
  readonly #active = new Map<string, ShardData>();
  readonly #stopped = new AbortController();
  /** Aborts with an error when the queue has jobs of another version or world. */
  readonly #refused = new AbortController();
  /** The number of shards that were computed. */
  computed = 0;
  #lastNote = '';

  constructor(queue: Queue, options: WorkOptions, bullmq: typeof import('bullmq')) {
    this.#queue = queue;
    this.#options = options;
    this.#bullmq = bullmq;
    this.#threads = new ShardThreads(options.program);
  }

  /** Watches the worker until the signal aborts, or until no shard is left. @throws QueueError for jobs of another release. */
  async run(worker: Worker<ShardData>, signal: AbortSignal): Promise<void> {
    worker.on('error', (error) => this.#note(error.message));
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.cancelJob(id, LOST_LEASE);
    });
    // If Redis refuses a check, the next check follows.
    const watch = setInterval(() => void this.#cancelEnded(worker).catch(() => {}), WATCH_MS);
    try {
      await this.#untilDone(worker, AbortSignal.any([signal, this.#refused.signal]));
    } finally {
      clearInterval(watch);
      this.#stopped.abort(new Error('The worker ends.'));
      // Does not wait for long, because `close` waits while the connection is lost.
      await Promise.race([worker.close(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      await this.#threads.close();
    }
    this.#refused.signal.throwIfAborted();
  }

  #untilDone(worker: Worker<ShardData>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (this.#options.untilEmpty) worker.once('drained', () => void this.#whenEmpty(resolve));
    });
  }

  /** Calls `then` when no shard waits, is being computed or will be retried. */
  async #whenEmpty(then: () => void): Promise<void> {
    const { redis, prefix } = this.#queue;
    const queue = new this.#bullmq.Queue(SHARDS, { connection: redis, prefix });
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized').catch(() => null);
      if (counts !== null && Object.values(counts).every((count) => count === 0)) return then();
      await CLOCK.wait(WATCH_MS, signal).catch(() => {});
    }
  }

  /** Stops the shards of jobs that were cancelled. */
  async #cancelEnded(worker: Worker<ShardData>): Promise<void> {
    for (const [id, shard] of this.#active) {
      if (!(await isCurrent(this.#queue, shard))) worker.cancelJob(id, 'the job was cancelled');
    }
  }

  /** Computes a shard and stores its result. Does nothing if its job has ended or its result exists. */
  async process(shard: Job<ShardData>, token: string, stop: AbortSignal): Promise<void> {
    const { job: name, submission, index } = shard.data;
    const signal = AbortSignal.any([stop, this.#stopped.signal]);
    this.#active.set(shard.id!, shard.data);
    try {
      await this.#untilAccepted(() => checkRelease(this.#queue, this.#options.release), signal);
      const job = await this.#untilAccepted(() => readJob(this.#queue, name), signal);
      if (job?.state !== 'open' || job.submission !== submission) return;
      if (await hasResult(this.#queue, shard.data)) return;
      const { engine, address } = this.#options;
      const { settings, shards: count } = job;
      const task = { shard: shard.data, job: job.job, settings, count, engine, address, token };
      // Progress is only displayed, so a report that Redis refuses may be lost.
      const onProgress = (done: number, total: number): void =>
        void shard.updateProgress({ done, total }).catch(() => {});
      const result = await this.#threads.run(task, { stop, end: this.#stopped.signal, onProgress });
      const stored = await this.#untilAccepted(
        () => storeResult(this.#queue, shard.data, result, hostname()),
        this.#stopped.signal,
      );
      if (stored === 'different') throw differentBytes(name, index);
      this.computed++;
    } catch (error) {
      await this.#fail(shard, token, toError(error));
    } finally {
      this.#active.delete(shard.id!);
    }
  }

  /**
   * Handles an error of a shard. Gives the shard back if this worker ends or is of another release. Ignores the error if the
   * result is no longer needed, except a QueueError. Otherwise throws: BullMQ tries again, unless a retry cannot help.
   */
  async #fail(shard: Job<ShardData>, token: string, error: Error & SentError): Promise<void> {
    if (error instanceof ReleaseError) this.#refused.abort(error);
    if (this.#stopped.signal.aborted || this.#refused.signal.aborted) await this.#giveBack(shard, token);
    const { job: name, index } = shard.data;
    // The job has ended, or another worker has finished the shard.
    if (!(error instanceof QueueError) && !(await this.#isWanted(shard.data))) return;
    this.#note(`Shard ${index} of ${name}: ${error.message}`);
    // If Redis refuses the note, this failure is not counted.
    await noteFailure(this.#queue, shard.data).catch(() => {});
    if (error.code === 'over_budget' || error instanceof QueueError) {
      throw new this.#bullmq.UnrecoverableError(error.message);
    }
    throw error;
  }

  /** Lets another worker take the shard at once. @throws WaitingError, which tells BullMQ that the shard is not finished. */
  async #giveBack(shard: Job<ShardData>, token: string): Promise<never> {
    await shard.moveToWait(token);
    throw new this.#bullmq.WaitingError();
  }

  async #isWanted(shard: ShardData): Promise<boolean> {
    return (await isCurrent(this.#queue, shard)) && !(await hasResult(this.#queue, shard));
  }

  #untilAccepted<Answer>(command: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    return untilAccepted(command, signal, ({ message }) => this.#note(message));
  }

  /** Reports a message, unless the previous message was the same or the worker ends. */
  #note(message: string): void {
    const isWait = isTemporary(new Error(message)) || /ECONN|EPIPE/.test(message);
    const note = isWait ? `Redis: ${message} Waits.` : message;
    if (note === this.#lastNote || this.#stopped.signal.aborted) return;
    this.#lastNote = note;
    this.#options.onNote(note);
  }
}

/** The reason of a shard's abort after its lease could not be renewed. */
const LOST_LEASE =
  'Expected this worker to hold the lease of the shard, got a lease that ended or that another worker holds. ' +
  'Raise --lease if this worker was not stopped.';

/** Returns the thrown error. BullMQ aborts a shard with a text instead of an error. */
const toError = (thrown: unknown): Error & SentError =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

const differentBytes = (name: string, index: number): QueueError =>
  new QueueError(
    `Expected shard ${index} of ${name} to give the same bytes again on ${hostname()}, got other bytes. ` +
      'Compare the versions and the processors of the workers, cancel the job and submit it again.',
  );
