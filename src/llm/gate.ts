/** Who was turned away keeps the others from asking, too. */
import type { Clock } from '../http/clock.js';

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
