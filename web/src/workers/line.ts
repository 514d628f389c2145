/** The page's side of a worker that one view asks. */
import { type Remote, wrap } from 'comlink';
import { CallFailed, type Outcome } from '../engine/outcome.js';

/** A worker that is started when it is first asked, and again after it broke. */
export class WorkerLine<Api> {
  readonly #start: () => Worker;
  readonly #name: string;
  #worker: Worker | null = null;
  #remote: Remote<Api> | null = null;
  /** Rejects when the worker itself breaks: else its answers would be waited for in vain. */
  #broken: Promise<never> | null = null;

  /** @param name what an error calls the worker. */
  constructor(name: string, start: () => Worker) {
    this.#name = name;
    this.#start = start;
  }

  /** @throws CallFailed, whose `failure` says of what kind. */
  async ask<T>(question: (worker: Remote<Api>) => Promise<Outcome<T>>): Promise<T> {
    const outcome = await Promise.race([question(this.#opened()), this.#broken!]);
    if (outcome.ok) return outcome.value;
    throw new CallFailed(outcome.failure);
  }

  #opened(): Remote<Api> {
    if (this.#remote !== null) return this.#remote;
    const worker = this.#start();
    this.#worker = worker;
    this.#broken = new Promise((_, reject) => {
      worker.addEventListener('error', ({ message }) => {
        this.close();
        const reason = message || 'its script could not be loaded';
        reject(new CallFailed({ kind: 'failed', message: `${this.#name} stopped: ${reason}.` }));
      });
    });
    this.#broken.catch(() => {});
    this.#remote = wrap<Api>(worker);
    return this.#remote;
  }

  /** Ends the worker, whatever it is doing; the next question starts another. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#remote = null;
  }
}
