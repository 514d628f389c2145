/** Time, for those who wait; tests bring their own. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const CLOCK: Clock = {
  now: Date.now,
  async wait(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
};

/** A gate that one who was turned away closes to all for a while. */
export class Gate {
  readonly #clock: Clock;
  #closed = 0;
  #opens = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(ms: number): void {
    this.#closed = this.#clock.now();
    this.#opens = Math.max(this.#opens, this.#closed + ms);
  }

  /** Waits until it is open, as often as it is closed meanwhile. */
  async pass(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) await this.#clock.wait(left, signal);
  }

  /** Nothing once somebody has set the clock back: nobody waits for a time to come again. */
  readonly #left = (): number => {
    const now = this.#clock.now();
    if (now < this.#closed) this.#opens = 0;
    return this.#opens - now;
  };
}
