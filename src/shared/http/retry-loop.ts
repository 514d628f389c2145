/** Repeats failed requests. Each client decides in `waitAfter` which failures are temporary. */
import pRetry from 'p-retry';
import type { Clock } from './clock.js';

/** A failed attempt. */
export interface FailedAttempt {
  readonly error: Error;
  /** The attempt's number, from 1 on. */
  readonly attempt: number;
  /** The number of attempts left. */
  readonly left: number;
}

/** Options of `retry`. */
export interface RetryOptions {
  /** The maximum number of attempts after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /**
   * Returns the milliseconds before the next attempt, or null for a permanent failure. Also called after the last attempt: then
   * the function may throw a more helpful error.
   */
  readonly waitAfter: (failed: FailedAttempt) => number | null;
}

/**
 * Calls `request` until it succeeds, fails permanently or has no attempts left.
 * @throws the error of the last attempt, the error of `waitAfter`, or the signal's reason.
 */
export const retry = <Answer>(
  request: () => Promise<Answer>,
  { retries, signal, clock, waitAfter }: RetryOptions,
): Promise<Answer> =>
  pRetry(request, {
    ...{ retries, signal, minTimeout: 0 },
    onFailedAttempt: async ({ error, attemptNumber: attempt, retriesLeft: left }) => {
      const ms = waitAfter({ error, attempt, left });
      if (ms === null || left === 0) throw error;
      await clock.wait(ms, signal);
    },
  });

/** The first and the longest wait in milliseconds, for services that do not state a wait. */
export interface BackOff {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the milliseconds to wait after an attempt: `first` after the first, doubled with each attempt, at most `last`.
 * @param attempt the attempt's number, from 1 on.
 */
export const backOff = ({ first, last }: BackOff, attempt: number): number =>
  Math.min(last, first * 2 ** (attempt - 1));
