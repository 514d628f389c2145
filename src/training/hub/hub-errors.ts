/** Errors of the Hub. Their messages contain no secrets. */
import { RhythmError } from '../../shared/errors.js';

export interface HubErrorOptions {
  /** The HTTP status; null if no answer came. */
  readonly status?: number | null;
  /** The Hub's error code, such as RevisionNotFound. */
  readonly hubCode?: string | null;
  /** Whether the same request may succeed later. */
  readonly transient?: boolean;
  /** Whether a request had no answer. */
  readonly unanswered?: boolean;
  /** The message without its remedy. */
  readonly brief?: string;
  /** The wait that the Hub demands, in milliseconds; null if it demands none. */
  readonly retryAfterMs?: number | null;
}

/** The Hub refused a request, could not be reached, or has an unexpected state; or a local file changed. */
export class HubError extends RhythmError {
  readonly status: number | null;
  readonly hubCode: string | null;
  readonly transient: boolean;
  readonly unanswered: boolean;
  readonly brief: string;
  readonly retryAfterMs: number | null;

  // The error has no `cause`: messages of libraries and servers may quote the token, and a stack trace would print them.
  constructor(message: string, options: HubErrorOptions = {}) {
    super('hub_failed', message);
    this.status = options.status ?? null;
    this.hubCode = options.hubCode ?? null;
    this.transient = options.transient ?? false;
    this.unanswered = options.unanswered ?? false;
    this.brief = options.brief ?? message;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Returns whether an error is a HubError with one of these statuses. */
export const isStatus = (error: unknown, ...statuses: number[]): error is HubError =>
  error instanceof HubError && error.status !== null && statuses.includes(error.status);
