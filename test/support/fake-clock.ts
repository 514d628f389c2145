/** A clock that advances at once when code waits, and records the waits in milliseconds. */
import type { Clock } from '../../src/shared/http/retry.js';

/** The initial time, in milliseconds. */
export const START = Date.parse('2026-11-22T00:00:00Z');

export class FakeClock implements Clock {
  readonly waits: number[] = [];
  #now = START;

  readonly now = (): number => this.#now;

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.waits.push(ms);
    this.#now += ms;
  }
}
