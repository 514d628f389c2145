/** A worker: takes shards from the queue and computes them in threads. BullMQ renews their locks and repeats failed shards. */
import type { Worker } from 'bullmq';
import { CLOCK } from '../../shared/http/retry.js';
import { isTemporary, loadQueues, type QueueAddress, withRedis } from './connection.js';
import { checkRelease, type Queue, type Release, SHARDS, type ShardData } from './jobs.js';

/** Options of the engine in a worker's threads. They change no result. */
export interface WorkerEngine {
  readonly backend?: string;
  readonly kernel?: string;
  /** Threads of the engine in each thread of the worker. */
  readonly threads: number;
}

/** What each thread of a worker gets as its `workerData`. */
export interface ThreadData {
  readonly address: QueueAddress;
  readonly engine: WorkerEngine;
}

export interface WorkOptions extends ThreadData {
  readonly release: Release;
  /** The module of the threads: BullMQ calls its default export for each shard. */
  readonly program: URL;
  /** Shards at a time, each in a thread of its own. */
  readonly concurrency: number;
  /** Milliseconds after which another worker takes a shard over if its lock, which users know as its lease, is not renewed. */
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
/** Milliseconds before BullMQ retries after an error of Redis, and between checks whether the queue is empty. Chosen by hand. */
const RETRY_MS = 500;
/**
 * The longest wait in milliseconds for the shards to go back to the queue. Less than the time that an interrupted command has to
 * stop (`graceMs` of `Interruption`, 2 seconds).
 */
const CLOSE_MS = 1500;
/** Reasons with which a worker stops a shard. After `STOPPED`, the thread gives the shard back to the queue. */
export const STOPPED = 'The worker ends.';
const LOST_LEASE =
  'Expected this worker to hold the lease of the shard, got a lease that ended or that another worker holds. ' +
  'Raise --lease if this worker was not stopped.';

/**
 * Computes shards until the signal aborts, or until no shard is left (`untilEmpty`). Shards that are being computed then go back
 * to the queue at once. @returns the number of shards that were computed. @throws QueueError; LibraryError.
 */
export async function work(options: WorkOptions, signal: AbortSignal): Promise<number> {
  const { bullmq } = await loadQueues();
  const { address, engine, concurrency, leaseMs, program } = options;
  return withRedis(address, async (redis) => {
    const queue: Queue = { redis, prefix: address.prefix };
    await checkRelease(queue, options.release);
    const worker = new bullmq.Worker<ShardData>(SHARDS, program, {
      connection: redis,
      prefix: address.prefix,
      concurrency,
      useWorkerThreads: true,
      workerThreadsOptions: { workerData: { address, engine } satisfies ThreadData },
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
      // Seconds that BullMQ waits for a shard before it asks an empty queue again.
      drainDelay: 1,
    });
    let computed = 0;
    const ended = new AbortController();
    const note = noteOnce(options.onNote);
    worker.on('completed', (_, isComputed) => {
      if (isComputed) computed++;
    });
    worker.on('error', ({ message }) => note(message));
    worker.on('failed', (shard, { message }) =>
      note(`Shard ${shard?.data.index} of ${shard?.data.job}: ${message}`),
    );
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) {
        worker.cancelJob(id, LOST_LEASE);
        const [, name, index] = /^(.*)-[^-]*-(\d+)$/.exec(id)!;
        note(`Shard ${index} of ${name}: ${LOST_LEASE}`);
      }
    });
    // A thread's only report of progress: its shard is of another release.
    worker.on(
      'progress',
      () => void checkRelease(queue, options.release).catch((error) => ended.abort(error)),
    );
    try {
      await untilDone(worker, queue, options.untilEmpty, AbortSignal.any([signal, ended.signal]));
    } finally {
      worker.cancelAllJobs(STOPPED);
      // Waits until the shards went back to the queue, but not for long: the connection may be lost.
      await within(CLOSE_MS, worker.pause());
      note.end();
      await within(CLOSE_MS, worker.close(true));
    }
    ended.signal.throwIfAborted();
    return computed;
  });
}

/** Waits for a promise, at most `ms` milliseconds. */
const within = (ms: number, promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ms).unref())]);

async function untilDone(
  worker: Worker,
  queue: Queue,
  untilEmpty: boolean,
  signal: AbortSignal,
): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!untilEmpty) return aborted;
  const drained = new Promise<void>((resolve) => void worker.once('drained', resolve));
  await Promise.race([aborted, drained]);
  await Promise.race([aborted, whenEmpty(queue, signal)]);
}

/** Waits until no shard waits, is being computed or will be repeated. */
async function whenEmpty({ redis, prefix }: Queue, signal: AbortSignal): Promise<void> {
  const { bullmq } = await loadQueues();
  const shards = new bullmq.Queue(SHARDS, { connection: redis, prefix });
  while (!signal.aborted) {
    const counts = await shards.getJobCounts('wait', 'active', 'delayed', 'prioritized').catch(() => null);
    if (counts !== null && Object.values(counts).every((count) => count === 0)) return;
    await CLOCK.wait(RETRY_MS, signal).catch(() => {});
  }
}

/** Returns a function that reports a message, unless the previous message was the same or `end` was called. */
function noteOnce(onNote: (note: string) => void): { (message: string): void; end(): void } {
  let last: string | null = '';
  const report = (message: string): void => {
    const note =
      isTemporary(new Error(message)) || /ECONN|EPIPE/.test(message) ? `Redis: ${message} Waits.` : message;
    if (note === last || last === null) return;
    last = note;
    onNote(note);
  };
  const end = (): void => {
    last = null;
  };
  return Object.assign(report, { end });
}
