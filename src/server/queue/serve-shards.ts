/** Runs in a thread of `rhythm-vec queue work`: computes shards, one at a time. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { ShardResult } from './job-store.js';
import type { FromThread, SentError, ShardTask, ToThread } from './shard-messages.js';

export interface ComputeOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** Called after an abort, if the computation stores paid episodes before it ends. */
  readonly onSaving: () => void;
}

/** Computes the result of a shard. */
export type Compute = (task: ShardTask, options: ComputeOptions) => Promise<Uint8Array>;

/** The minimum number of milliseconds between reports of progress. */
const PROGRESS_MS = 500;
/** Brotli's quality, 0 to 11. With 5 the size is within 10 % of the smallest, which takes a hundred times as long. */
const QUALITY = 5;

/** Compresses bytes for Redis. */
export const compress = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });

/** Decompresses bytes. @throws Error for damaged bytes. */
export const decompress = (bytes: Uint8Array): Buffer => brotliDecompressSync(bytes);

/** Answers the messages of the main thread until this thread is ended. */
export function serveShards(compute: Compute): void {
  const port = parentPort!;
  const send = (message: FromThread): void => port.postMessage(message);
  let abort: AbortController | null = null;
  port.on('message', async (message: ToThread) => {
    if (message === 'abort') {
      abort?.abort(new Error('The shard was stopped.'));
      return;
    }
    abort = new AbortController();
    try {
      const started = performance.now();
      const onSaving = (): void => send({ saving: true });
      const bytes = await compute(message, { signal: abort.signal, onProgress: reporter(send), onSaving });
      send({ result: resultOf(bytes, performance.now() - started) });
    } catch (error) {
      send({ error: toSent(error) });
    } finally {
      abort = null;
    }
  });
}

/** Returns the result of a shard as Redis stores it. */
export const resultOf = (bytes: Uint8Array, computeMs: number): ShardResult => ({
  digest: createHash('sha256').update(bytes).digest(),
  compressed: compress(bytes),
  computeMs,
});

function reporter(send: (message: FromThread) => void): ComputeOptions['onProgress'] {
  let next = performance.now() + PROGRESS_MS;
  return (done, total) => {
    if (performance.now() < next) return;
    next = performance.now() + PROGRESS_MS;
    send({ progress: [done, total] });
  };
}

function toSent(thrown: unknown): SentError {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { code } = thrown as Error & { code?: unknown };
  return { message: thrown.message, ...(typeof code === 'string' ? { code } : {}) };
}
