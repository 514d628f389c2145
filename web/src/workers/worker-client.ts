/** Calls a worker from the page. */
import { type Remote, wrap } from 'comlink';
import { CallFailed, type Outcome } from '../engine/outcome.js';

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
