/**
 * Aborts a request whose whole answer has not come within a time limit. The timeout of the package openai covers only the
 * headers.
 */

/** A signal that aborts when the time limit has passed or the caller's signal is aborted. Call `end` after the request. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** Whether the time limit has passed. */
  passed = false;

  /** Starts the timer. @param ms the time limit in milliseconds. @param outer the caller's signal. */
  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#abort);
    // An aborted signal dispatches no further event.
    if (outer.aborted) this.#abort();
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, ms);
  }

  /** The signal for the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => this.#controller.abort();

  /** Removes the timer and the listener. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}
