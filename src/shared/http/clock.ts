/** The clock of clients that wait between requests. Tests replace it. */
import { setTimeout as delay } from 'node:timers/promises';

/** Tells the time and waits. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits `ms` milliseconds. @throws the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The system's clock. */
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
