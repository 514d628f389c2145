/** Long work beside short: batches are worked in slices, one slice of all of them for each turn of the event loop. */
import { othersTurn } from '../vec-env/turns.js';

/** As many batches as the server takes are in progress: come back. */
export class BusyError extends Error {
  /** Seconds. */
  readonly retryAfter = 1;
  constructor(most: number) {
    super(`Expected fewer than ${most} requests of /v1 at a time, got as many. Try again later.`);
  }
}

/** Of bodies and answers, in characters. */
export const LARGE = 2 ** 21;

export class Turns {
  readonly #most: number;
  #working = 0;
  #last: Promise<void> = Promise.resolve();
  #large: Promise<unknown> = Promise.resolve();

  /** @param most batches at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Batches in progress. */
  get working(): number {
    return this.#working;
  }

  /**
   * Works a batch, which asks for its `turn` before each slice. However many batches there are, a session waits for one
   * slice.
   * @param left settles when what it made is no longer held: until then it is in progress.
   * @throws BusyError before anything is done.
   */
  async during<T>(left: Promise<void>, work: () => Promise<T>): Promise<T> {
    if (this.#working >= this.#most) throw new BusyError(this.#most);
    this.#working++;
    void left.then(() => this.#working--);
    return await work();
  }

  /**
   * Does what takes memory as a body or an answer does: of large ones one at a time, in their order, small ones beside
   * them. Not within itself.
   * @param length of the body, or of the answer.
   */
  alone<T>(length: number, work: () => Promise<T>): Promise<T> {
    if (length < LARGE) return work();
    const done = this.#large.then(work);
    this.#large = done.catch(() => {});
    return done;
  }

  /** @param signal of whoever waits for the work. @throws the signal's reason. */
  async turn(signal?: AbortSignal): Promise<void> {
    this.#last = this.#last.then(othersTurn);
    await this.#last;
    signal?.throwIfAborted();
  }
}
