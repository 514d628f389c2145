/** The time limit of a request, pauses of all requests of an endpoint, and waits between retries. */

import { type BackOff, backOff, type Clock, type FailedAttempt } from '../../shared/http/retry.js';
import { EndpointError } from './language-model.js';
import { TemporaryFailure } from './request-faults.js';

/**
 * A signal that aborts when the time limit has passed or the caller's signal is aborted. Call `end` after the request. The
 * time limit is that of the whole answer: the timeout of the package openai covers only the headers.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** Whether the time limit has passed. */
  passed = false;

  /** Starts the timer. @param ms the time limit in milliseconds. @param outer the caller's signal. */
  constructor(ms: number, outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#abort);
    // An aborted signal dispatches no further event.
    if (outer.aborted) this.#abort();
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, ms);
  }

  /** The signal for the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => this.#controller.abort();

  /** Removes the timer and the listener. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}

/** Pauses of all requests of an endpoint. */
export interface Pauses {
  /** Pauses all requests for `ms` milliseconds, or until an earlier pause ends if that is later. */
  pause(ms: number): void;
  /** Waits until no pause is left. @throws the signal's reason. */
  wait(signal: AbortSignal): Promise<void>;
}

/** Rate limiter: one refused request (status 429 or 503) pauses all requests of an endpoint. */
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

/**
 * Waits between retries in milliseconds, if the endpoint requests none. Chosen by hand: the waits of the six default retries add
 * up to 63 s, so that a limit of requests per minute does not end a command.
 */
const WAITS: BackOff = { first: 1000, last: 60_000 };
/** The longest wait that an endpoint may request. A longer one ends the command instead of letting it wait. Chosen by hand. */
const MAX_WAIT_MS = 15 * 60_000;
/** The largest random share that is added to a wait, so that requests do not resume all at once. Chosen by hand. */
const SPREAD = 0.25;
/**
 * Returns the wait before a retry in milliseconds; null for no retry. Pauses all requests if the endpoint limits their rate.
 * @param url the endpoint's, for errors. @param random returns a number in [0, 1).
 * @throws EndpointError after the last try, or if the wait is too long.
 */
export function waitAfter(
  { error, attempt, left }: FailedAttempt,
  url: string,
  rateLimiter: Pauses,
  random: () => number,
): number | null {
  if (!(error instanceof TemporaryFailure)) return null;
  if (left === 0) {
    const got = attempt === 1 ? 'got' : `got ${attempt} consecutive failures, the last`;
    throw new EndpointError(
      `Expected ${url} to answer, ${got}: ${error.message}. Check its address and that it runs, try again later, or allow more retries (--retries).`,
      { lasting: false },
    );
  }
  const { retryAfterMs, resetMs } = error;
  // A requested wait of nearly 0 is replaced by the default.
  const isRequested = retryAfterMs !== null && retryAfterMs >= 1;
  const wait = isRequested ? retryAfterMs : Math.max(backOff(WAITS, attempt), resetMs ?? 0);
  if (wait > MAX_WAIT_MS) {
    throw new EndpointError(
      `Expected ${url} to accept requests again within ${MAX_WAIT_MS / 1000} s, got a wait of ` +
        `${Math.ceil(wait / 1000)} s: ${error.message}. Try again after that time.`,
      { lasting: true },
    );
  }
  if (error.rateLimited) rateLimiter.pause(wait);
  return wait * (1 + SPREAD * random());
}
