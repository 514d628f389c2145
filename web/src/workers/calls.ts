/**
 * Calls from the page to workers, and from a worker to others. Failures are sent as data, because a sent error loses its class and
 * its code.
 */
import { type Remote, wrap } from 'comlink';
import { RhythmError } from '../../../src/shared/errors.js';

/** 'stopped': by the user or by a newer call. 'refused': an invalid argument. 'failed': anything else. */
type FailureKind = 'stopped' | 'refused' | 'failed';

export interface Failure {
  readonly kind: FailureKind;
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

/** Runs work in the worker, and returns its outcome. */
export async function outcomeOf<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, failure: toFailure(error) };
  }
}

/** Returns the failure that an error stands for. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: kindOf(error), message };
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof DOMException && error.name === 'AbortError') return 'stopped';
  return error instanceof RhythmError && error.name === 'InputError' ? 'refused' : 'failed';
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

/** A worker that is started at the first call, and again at the first call after it has failed. */
export class WorkerClient<Api> {
  readonly #start: () => Worker;
  readonly #name: string;
  #worker: Worker | null = null;
  #remote: Remote<Api> | null = null;
  /**
   * The functions that reject the pending calls when the worker breaks. `Promise.race` with one promise for all calls would
   * keep the result of every call in memory.
   */
  readonly #pending = new Set<(why: CallFailed) => void>();

  /** @param name of the worker in errors. */
  constructor(name: string, start: () => Worker) {
    this.#name = name;
    this.#start = start;
  }

  /** Calls the worker. @throws CallFailed; its `failure` has the kind. */
  async call<T>(request: (worker: Remote<Api>) => Promise<Outcome<T>>): Promise<T> {
    const outcome = await this.#unlessBroken(request(this.#opened()));
    if (outcome.ok) return outcome.value;
    throw new CallFailed(outcome.failure);
  }

  #unlessBroken<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.add(reject);
      answer.then(resolve, reject).finally(() => this.#pending.delete(reject));
    });
  }

  #opened(): Remote<Api> {
    if (this.#remote !== null) return this.#remote;
    const worker = this.#start();
    this.#worker = worker;
    worker.addEventListener('error', ({ message }) => this.#fail(message));
    this.#remote = wrap<Api>(worker);
    return this.#remote;
  }

  #fail(why: string): void {
    this.#close();
    const reason = why || 'its script could not be loaded';
    const failed = new CallFailed({ kind: 'failed', message: `${this.#name} stopped: ${reason}.` });
    for (const reject of this.#pending) reject(failed);
    this.#pending.clear();
  }

  /** Ends the worker. The next call starts another. */
  #close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#remote = null;
  }
}
