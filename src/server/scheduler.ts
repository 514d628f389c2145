/** Divides the event loop between batch requests and sessions: each turn of the loop runs one slice of one batch. */
import { yieldTurn } from '../engine/vec-env/yield-turn.js';

/** The error for too many batches at a time. */
export class BusyError extends Error {
  /** The value of the header Retry-After, in seconds. */
  readonly retryAfter = 1;
  constructor(limit: number) {
    super(`Expected fewer than ${limit} requests of /v1 in progress, got ${limit}. Try again later.`);
  }
}

/** The minimum size of a large body (in bytes) or answer (in characters). */
export const LARGE = 2 ** 21;

export class Scheduler {
  readonly #limit: number;
  #working = 0;
  #last: Promise<void> = Promise.resolve();
  #large: Promise<unknown> = Promise.resolve();

  /** @param limit the maximum number of batches at a time. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of batches in progress. */
  get working(): number {
    return this.#working;
  }

  /**
   * Runs a batch, which awaits `turn` before each slice. A session waits for at most one slice, even if many batches run.
   * @param finished settles when the answer's memory is free. Until then the batch counts as in progress.
   * @throws BusyError before any work.
   */
  async runBatch<T>(finished: Promise<void>, work: () => Promise<T>): Promise<T> {
    if (this.#working >= this.#limit) throw new BusyError(this.#limit);
    this.#working++;
    void finished.then(() => this.#working--);
    return await work();
  }

  /**
   * Runs work that needs memory in proportion to a body or an answer. Large work runs one at a time, in order; small work
   * runs at once. Calls must not be nested.
   * @param length of the body or the answer.
   */
  runLarge<T>(length: number, work: () => Promise<T>): Promise<T> {
    if (length < LARGE) return work();
    const done = this.#large.then(work);
    // Drops the result, which would keep the memory of a body until the next large work.
    this.#large = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /** Waits for the next turn of the event loop. @param signal of the waiting client. @throws the signal's reason. */
  async turn(signal?: AbortSignal): Promise<void> {
    this.#last = this.#last.then(yieldTurn);
    await this.#last;
    signal?.throwIfAborted();
  }
}
