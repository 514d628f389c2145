/** Computes shards in threads, so that the main thread can renew their leases meanwhile. */
import { Worker } from 'node:worker_threads';
import type { ShardResult } from './job-store.js';
import type { FromThread, ShardTask } from './shard-messages.js';

export interface RunOptions {
  /** Stops the shard. Paid episodes of a language model are stored first, even if Redis is full for a long time. */
  readonly stop: AbortSignal;
  /** Stops the shard within STOP_MS, even while it stores episodes. */
  readonly end: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Milliseconds from an abort until the thread is terminated. After `stop`, a thread that stores episodes is not terminated.
 * Chosen by hand, less than the time that an interrupted command has to stop (`graceMs` of `Interruption`, 2 seconds).
 */
const STOP_MS = 1500;

export class ShardThreads {
  readonly #program: URL;
  readonly #all = new Set<Worker>();
  readonly #free: Worker[] = [];

  /** @param program the module that threads run: it calls `serveShards`. */
  constructor(program: URL) {
    this.#program = program;
  }

  /** Computes a shard in a free thread, or in a new thread. @throws the error of the computation; the reason of a signal. */
  async run(task: ShardTask, { stop, end, onProgress }: RunOptions): Promise<ShardResult> {
    const signal = AbortSignal.any([stop, end]);
    signal.throwIfAborted();
    const thread = this.#free.pop() ?? this.#open();
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => {
      thread.postMessage('abort');
      clearTimeout(timer);
      timer = setTimeout(() => void thread.terminate(), STOP_MS);
    };
    // A thread that stores episodes is terminated only after `end`.
    const onSaving = (): void => {
      if (!end.aborted) clearTimeout(timer);
    };
    for (const each of [stop, end]) each.addEventListener('abort', abort, { once: true });
    try {
      return await resultOf(thread, task, { onProgress, onSaving });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      for (const each of [stop, end]) each.removeEventListener('abort', abort);
      if (this.#all.has(thread)) this.#free.push(thread);
    }
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all, (thread) => thread.terminate()));
  }

  #open(): Worker {
    const thread = new Worker(this.#program);
    this.#all.add(thread);
    // `resultOf` reports errors. Without this listener an error between two shards would end the process.
    thread.on('error', () => {});
    thread.on('exit', () => {
      this.#all.delete(thread);
      const at = this.#free.indexOf(thread);
      if (at >= 0) this.#free.splice(at, 1);
    });
    return thread;
  }
}

/** Sends a task and waits for its result. Rejects if the task fails or the thread ends. */
function resultOf(
  thread: Worker,
  task: ShardTask,
  { onProgress, onSaving }: Pick<RunOptions, 'onProgress'> & { readonly onSaving: () => void },
): Promise<ShardResult> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      thread.off('message', onMessage);
      thread.off('error', onError);
      thread.off('exit', onExit);
      act();
    };
    const onMessage = (message: FromThread): void => {
      if ('progress' in message) onProgress(...message.progress);
      else if ('saving' in message) onSaving();
      else if ('result' in message) finish(() => resolve(message.result));
      else finish(() => reject(Object.assign(new Error(message.error.message), message.error)));
    };
    const onError = (error: Error): void => finish(() => reject(error));
    const onExit = (code: number): void =>
      finish(() => reject(new Error(`The thread of the shard ended with exit code ${code}.`)));
    thread.on('message', onMessage);
    thread.on('error', onError);
    thread.on('exit', onExit);
    thread.postMessage(task);
  });
}
