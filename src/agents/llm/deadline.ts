/** The deadline of one request, to the last byte of its answer. The client's own timeout covers only the headers. */

/** A signal that aborts when the time is over or the caller's signal aborts. Call `end` after the request. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** Whether the time is over. */
  passed = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#abort);
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, ms);
  }

  /** Aborted when the time is over or the caller's signal aborts. */
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
