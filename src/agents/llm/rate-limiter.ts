/** Rate limiter: one refused request (status 429 or 503) pauses all requests. */
import type { Clock } from '../../shared/http/clock.js';

/** Pauses of all requests of an endpoint. */
export interface Pauses {
  /** Pauses all requests for `ms` milliseconds, or until an earlier pause ends if that is later. */
  pause(ms: number): void;
  /** Waits until no pause is left. @throws the signal's reason. */
  wait(signal: AbortSignal): Promise<void>;
}

/** Pauses all requests of an endpoint after a refused request. */
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
