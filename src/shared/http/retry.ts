/** Repeats failed requests: parses how long a service asks its clients to wait, and waits. */
import { setTimeout as delay } from 'node:timers/promises';
import pRetry from 'p-retry';

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

/** Response headers, as `fetch` returns them. */
export interface Headers extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
}

/** Date.parse accepts texts that are not dates, such as "-5". An HTTP date begins with a day's name, RFC 3339 with a year. */
const DATE = /^\s*(?:[A-Z][a-z]{2,8},? |\d{4}-\d\d-\d\dT)/;
/** A duration as Go, Python and Protocol Buffers write it: "6m0s", "2m59.56s", "20ms". */
const DURATION = /^\s*(?:\d+(?:\.\d+)?(?:ms|[dhms]))+\s*$/;
/** The milliseconds of each unit of a duration. */
const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * Returns the wait in milliseconds from now, at least 0: `retry-after-ms`, or else `retry-after`, as `waitIn` reads it. Returns
 * null if neither header is present and readable.
 */
export const retryAfterMs = (headers: Headers | null | undefined, now: number): number | null =>
  numberIn(headers?.get('retry-after-ms')) ?? waitIn(headers?.get('retry-after'), now);

/**
 * Returns the milliseconds from now, at least 0, until the rate limits are reset that may have refused a request; null if no
 * header says it. Headers: `x-ratelimit-reset-*`, `anthropic-ratelimit-*-reset` and similar names, each with its `remaining`,
 * and `ratelimit` (such as "api";r=0;t=55). The limits with nothing left count; if there is none, those that may have too little
 * left: limits of tokens, and limits that do not say what is left.
 */
export function resetMs(headers: Headers | null | undefined, now: number): number | null {
  const limits = [...(headers ?? [])].flatMap(([name, value]) => {
    if (name === 'ratelimit') {
      const items = [...value.matchAll(/;\s*r=(\d+)\s*;\s*t=(\d+)/g)];
      return items.map(([, left, seconds]) => ({ name, left: Number(left), ms: 1000 * Number(seconds) }));
    }
    const ms = /ratelimit.*reset/.test(name) ? waitIn(value, now) : null;
    return ms === null
      ? []
      : [{ name, left: numberIn(headers!.get(name.replace('reset', 'remaining'))), ms }];
  });
  const spent = limits.filter(({ left }) => left === 0);
  const possible = limits.filter(({ name, left }) => left === null || name.includes('token'));
  const waits = (spent.length > 0 ? spent : possible).map(({ ms }) => ms);
  return waits.length === 0 ? null : Math.max(...waits);
}

/**
 * Parses a wait: seconds, a duration (DURATION), a time in seconds or milliseconds since 1970, or a date of HTTP or RFC 3339.
 * @returns milliseconds from now, at least 0; null for other texts.
 */
export function waitIn(text: string | null | undefined, now: number): number | null {
  const number = numberIn(text);
  if (number !== null && number < 1e9) return number * 1000;
  // As seconds, 10^9 is in 2001 and 10^11 in the year 5138; as milliseconds, 10^11 is in 1973.
  if (number !== null) return Math.max(0, (number < 1e11 ? number * 1000 : number) - now);
  if (DURATION.test(text ?? '')) {
    const parts = [...text!.matchAll(/([\d.]+)([a-z]+)/g)];
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
  }
  const date = DATE.test(text ?? '') ? Date.parse(text!) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function numberIn(text: string | null | undefined): number | null {
  return /^\s*\d+(\.\d*)?\s*$/.test(text ?? '') ? Number(text) : null;
}

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
