/** The page's side of a worker. */
import { type Remote, wrap } from 'comlink';
import { CallFailed, type Outcome } from '../engine/outcome.js';

/** A worker that is started when it is first asked, and again after it broke. */
export class WorkerLine<Api> {
  readonly #start: () => Worker;
  readonly #name: string;
  #worker: Worker | null = null;
  #remote: Remote<Api> | null = null;
  /**
   * Told when the worker itself breaks: else answers would be waited for in vain. Not one promise that all answers race
   * with: it would keep every answer that ever was.
   */
  readonly #waiting = new Set<(why: CallFailed) => void>();

  /** @param name what an error calls the worker. */
  constructor(name: string, start: () => Worker) {
    this.#name = name;
    this.#start = start;
  }

  /** @throws CallFailed, whose `failure` says of what kind. */
  async ask<T>(question: (worker: Remote<Api>) => Promise<Outcome<T>>): Promise<T> {
    const outcome = await this.#unlessBroken(question(this.#opened()));
    if (outcome.ok) return outcome.value;
    throw new CallFailed(outcome.failure);
  }

  #unlessBroken<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      answer.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  #opened(): Remote<Api> {
    if (this.#remote !== null) return this.#remote;
    const worker = this.#start();
    this.#worker = worker;
    worker.addEventListener('error', ({ message }) => this.#breaks(message));
    this.#remote = wrap<Api>(worker);
    return this.#remote;
  }

  #breaks(why: string): void {
    this.#close();
    const reason = why || 'its script could not be loaded';
    const failed = new CallFailed({ kind: 'failed', message: `${this.#name} stopped: ${reason}.` });
    for (const tell of this.#waiting) tell(failed);
    this.#waiting.clear();
  }

  /** The next question starts another. */
  #close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#remote = null;
  }
}
