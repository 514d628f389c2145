/** Errors of the Hub. Their messages contain no secret. */
import { RhythmError } from '../../shared/errors.js';

export interface HubErrorOptions {
  /** The HTTP status; null where there was no answer. */
  readonly status?: number | null;
  /** The Hub's own name for it, such as RevisionNotFound. */
  readonly hubCode?: string | null;
  /** Whether the same request may succeed later. */
  readonly transient?: boolean;
  /** The message without its remedy. */
  readonly brief?: string;
  /** How long the Hub asks to wait, in milliseconds; null where it does not say. */
  readonly retryAfterMs?: number | null;
}

/** The Hub refused, could not be reached, or holds what nobody foresaw. */
export class HubError extends RhythmError {
  readonly status: number | null;
  readonly hubCode: string | null;
  readonly transient: boolean;
  readonly brief: string;
  readonly retryAfterMs: number | null;

  // No cause: what libraries and servers say may quote the token, and a stack trace would print it.
  constructor(message: string, options: HubErrorOptions = {}) {
    super('hub_failed', message);
    this.status = options.status ?? null;
    this.hubCode = options.hubCode ?? null;
    this.transient = options.transient ?? false;
    this.brief = options.brief ?? message;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Whether an error is the Hub's answer of this status. */
export const isStatus = (error: unknown, ...statuses: number[]): error is HubError =>
  error instanceof HubError && error.status !== null && statuses.includes(error.status);
