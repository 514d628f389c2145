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
  #opens = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(ms: number): void {
    this.#opens = Math.max(this.#opens, this.#clock.now() + ms);
  }

  /** Waits until it is open, as often as it is closed meanwhile. */
  async pass(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) await this.#clock.wait(left, signal);
  }

  readonly #left = (): number => this.#opens - this.#clock.now();
}
