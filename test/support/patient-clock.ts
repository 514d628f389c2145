/** Time that passes when it is waited for: nobody waits, and what would have been waited for is noted. */
import type { Clock } from '../../src/http/clock.js';

/** When time begins, in milliseconds. */
export const START = Date.parse('2026-11-22T00:00:00Z');

export class PatientClock implements Clock {
  readonly waits: number[] = [];
  #now = START;

  readonly now = (): number => this.#now;

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.waits.push(ms);
    this.#now += ms;
  }
}
