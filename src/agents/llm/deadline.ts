/** The deadline of one request, to the last byte of its answer. The client's own timeout covers only the headers. */

/** Aborts when the time is over or the caller's signal aborts. Call `end` to remove its timer and listener. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  passed = false;

  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#abort);
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => this.#controller.abort();

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}
