/** How asking a language model fails. No message of these holds a secret. */
import { RhythmError } from '../errors.js';

/** An endpoint that gives no answers, now or ever. */
export class EndpointError extends RhythmError {
  /** Whether asking anything else would fail alike. */
  readonly lasting: boolean;

  constructor(message: string, { lasting }: { readonly lasting: boolean }) {
    super('endpoint_failed', message);
    this.lasting = lasting;
  }
}

/** What comes next might cost more than is left. */
export class BudgetError extends RhythmError {
  constructor(message: string) {
    super('over_budget', message);
  }
}

/** What may go well another time. */
export class PassingFault extends Error {
  /** What the endpoint said of when, in milliseconds; null where it said nothing. */
  readonly retryAfterMs: number | null;
  /** Whether others would be turned away too: they wait as well. */
  readonly crowded: boolean;
  /** Whether the request may have been paid for. */
  readonly mayHaveCost: boolean;

  constructor(
    message: string,
    about: {
      readonly retryAfterMs?: number | null;
      readonly crowded?: boolean;
      readonly mayHaveCost: boolean;
    },
  ) {
    super(message);
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.crowded = about.crowded ?? false;
    this.mayHaveCost = about.mayHaveCost;
  }
}
