/** The time limit of a request, and pauses of all requests of an endpoint. */

import type { Clock } from '../../shared/http/clock.js';

/**
 * A signal that aborts when the time limit has passed or the caller's signal is aborted. Call `end` after the request. The
 * time limit is that of the whole answer: the timeout of the package openai covers only the headers.
 */
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

/** Pauses of all requests of an endpoint. */
export interface Pauses {
  /** Pauses all requests for `ms` milliseconds, or until an earlier pause ends if that is later. */
  pause(ms: number): void;
  /** Waits until no pause is left. @throws the signal's reason. */
  wait(signal: AbortSignal): Promise<void>;
}

/** Rate limiter: one refused request (status 429 or 503) pauses all requests of an endpoint. */
export class RateLimiter implements Pauses {
  readonly #clock: Clock;
  #pausedAt = 0;
  #resumesAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pause(ms: number): void {
    this.#pausedAt = this.#clock.now();
    this.#resumesAt = Math.max(this.#resumesAt, this.#pausedAt + ms);
  }

  async wait(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) await this.#clock.wait(left, signal);
  }

  /** Returns the milliseconds to the end of the pause; 0 or less without a pause. A clock that was set back ends the pause. */
  #left(): number {
    const now = this.#clock.now();
    if (now < this.#pausedAt) this.#resumesAt = 0;
    return this.#resumesAt - now;
  }
}
