/**
 * Calls from the page to workers, and from a worker to others. Failures are sent as data, because a sent error loses its class and
 * its code.
 */
import { type ProxyMethods, type Remote, releaseProxy, wrap } from 'comlink';
import { RhythmError } from '../../../src/shared/errors.js';

export interface Failure {
  /** 'stopped': by the user or by a newer call. 'refused': an invalid argument. 'failed': anything else. */
  readonly kind: 'stopped' | 'refused' | 'failed';
  readonly message: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The error for a worker call that failed. */
export class CallFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Runs work in the worker, and returns its outcome.
 * @param report a callback of the page, which is released: otherwise the page would keep it in memory until the worker collects
 *   its proxy as garbage.
 */
export async function outcomeOf<T>(work: () => T | Promise<T>, report?: object): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, failure: toFailure(error) };
  } finally {
    (report as ProxyMethods | undefined)?.[releaseProxy]();
  }
}

/** Returns the failure that an error stands for. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DOMException && error.name === 'AbortError') return { kind: 'stopped', message };
  const isRefused = error instanceof RhythmError && error.name === 'InputError';
  return { kind: isRefused ? 'refused' : 'failed', message };
}

/** The long job that a worker runs, at most one at a time. A new job stops the previous one. */
let current: AbortController | null = null;

/** Begins a job. @returns the signal that stops it. */
export function beginJob(): AbortSignal {
  stopJob();
  current = new AbortController();
  return current.signal;
}

/** Stops the current job, if there is one. */
export function stopJob(): void {
  current?.abort(new DOMException('Stopped.', 'AbortError'));
}

/** The progress of a job. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Reports the progress of a job, and sometimes what it has found so far. */
export type Report<T> = (progress: Progress, soFar: T | null) => void;

/**
 * Returns the function that calls a worker: `callEngine((engine) => engine.sequence(...))`. It throws CallFailed, whose `failure`
 * has the kind. The worker is started at the first call, and again at the first call after it has failed.
 * @param name of the worker in errors.
 */
export function workerClient<Api>(name: string, start: () => Worker) {
  let remote: Remote<Api> | null = null;
  /**
   * The functions that reject the pending calls when the worker breaks. `Promise.race` with one promise for all calls would
   * keep the result of every call in memory.
   */
  const pending = new Set<(why: CallFailed) => void>();
  const open = (): Remote<Api> => {
    const worker = start();
    worker.addEventListener('error', ({ message }) => {
      worker.terminate();
      remote = null;
      const reason = message || 'its script could not be loaded';
      const failed = new CallFailed({ kind: 'failed', message: `${name} stopped: ${reason}.` });
      for (const reject of pending) reject(failed);
      pending.clear();
    });
    return wrap<Api>(worker);
  };
  return async <T>(request: (worker: Remote<Api>) => Promise<Outcome<T>>): Promise<T> => {
    remote ??= open();
    const answer = request(remote);
    const outcome = await new Promise<Outcome<T>>((resolve, reject) => {
      pending.add(reject);
      answer.then(resolve, reject).finally(() => pending.delete(reject));
    });
    if (outcome.ok) return outcome.value;
    throw new CallFailed(outcome.failure);
  };
}
