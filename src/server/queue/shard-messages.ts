/** Messages between a worker and its threads. */
import type { QueueAddress } from './connection.js';
import type { ShardResult } from './job-store.js';
import type { ShardData } from './keys.js';

/** Options of the engine in a worker's threads. They change no result. */
export interface WorkerEngine {
  readonly backend?: string;
  readonly kernel?: string;
  /** Threads of the engine in each thread of the worker. */
  readonly threads: number;
}

/** A shard to compute. */
export interface ShardTask {
  readonly shard: ShardData;
  /** The job as JSON. */
  readonly job: string;
  /** The number of shards. */
  readonly count: number;
  /** The settings with which the shard is run, as JSON. They change no result. */
  readonly settings: string;
  readonly engine: WorkerEngine;
  readonly address: QueueAddress;
  /** The value of the shard's lock. Only the attempt that holds the lock may send requests to a language model. */
  readonly token: string;
}

/** An error in a form that can be sent. */
export interface SentError {
  readonly message: string;
  readonly code?: string;
}

/** A message of a worker to a thread: a shard to compute, or the order to stop. */
export type ToThread = ShardTask | 'abort';
/** A message of a thread to its worker. */
export type FromThread =
  | { readonly progress: readonly [done: number, total: number] }
  /** An answer to 'abort': the thread stores paid episodes before it ends. */
  | { readonly saving: true }
  | { readonly result: ShardResult }
  | { readonly error: SentError };
