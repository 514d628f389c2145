/** Errors of language models. */
import { RhythmError } from '../../shared/errors.js';

/** Thrown if the endpoint failed, after all retries or because no retry can help. */
export class EndpointError extends RhythmError {
  /** Whether all other requests would fail too. */
  readonly lasting: boolean;

  constructor(message: string, { lasting }: { readonly lasting: boolean }) {
    super('endpoint_failed', message);
    this.lasting = lasting;
  }
}

/** Thrown if the next request or episode may exceed the budget. */
export class BudgetError extends RhythmError {
  constructor(message: string) {
    super('over_budget', message);
  }
}

/** Thrown for a failure that a retry may resolve. */
export class TemporaryFailure extends Error {
  /** The requested wait in milliseconds; null if there is none. */
  readonly retryAfterMs: number | null;
  /** The milliseconds until the endpoint's rate limit is reset; null if it is not known. A lower bound of the wait. */
  readonly resetMs: number | null;
  /** Whether all requests should wait: the endpoint limits their rate. */
  readonly rateLimited: boolean;
  /** Whether the request may be charged. */
  readonly mayBeCharged: boolean;

  constructor(
    message: string,
    details: {
      readonly retryAfterMs?: number | null;
      readonly resetMs?: number | null;
      readonly rateLimited?: boolean;
      readonly mayBeCharged: boolean;
    },
  ) {
    super(message);
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.resetMs = details.resetMs ?? null;
    this.rateLimited = details.rateLimited ?? false;
    this.mayBeCharged = details.mayBeCharged;
  }
}
