/** Asking a service again, as long as there is any use in it. What is worth another attempt each client knows itself. */
import pRetry from 'p-retry';
import type { Clock } from './clock.js';

/** An attempt that has failed. */
export interface Failed {
  readonly error: Error;
  /** Which, from 1. */
  readonly attempt: number;
  /** How many may come after it. */
  readonly left: number;
}

export interface AskAgainOptions {
  /** Attempts after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /**
   * Milliseconds before the next attempt; null where there is no use in one. Asked after the last, too: it may throw an
   * error that says more.
   */
  readonly waitAfter: (failed: Failed) => number | null;
}

/** Asks until there is an answer, or no use in asking. @throws what the last attempt has thrown, or `waitAfter`; the signal's reason. */
export const askAgain = <Answer>(
  ask: () => Promise<Answer>,
  { retries, signal, clock, waitAfter }: AskAgainOptions,
): Promise<Answer> =>
  pRetry(ask, {
    ...{ retries, signal, minTimeout: 0 },
    onFailedAttempt: async ({ error, attemptNumber: attempt, retriesLeft: left }) => {
      const ms = waitAfter({ error, attempt, left });
      if (ms === null || left === 0) throw error;
      await clock.wait(ms, signal);
    },
  });

/** Waits where a service does not say for how long, in milliseconds. */
export interface BackOff {
  readonly first: number;
  readonly last: number;
}

/** The first wait after the first attempt, doubled with each one more, up to the last. */
export const backOff = ({ first, last }: BackOff, attempt: number): number =>
  Math.min(last, first * 2 ** (attempt - 1));
