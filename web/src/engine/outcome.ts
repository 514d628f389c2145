/** The outcome of a worker call. Failures are sent as data, because a sent error loses its class and its code. */
import { RhythmError } from '../../../src/shared/errors.js';

/** 'stopped': by the user or by a newer call. 'refused': an invalid argument. 'failed': anything else. */
export type FailureKind = 'stopped' | 'refused' | 'failed';

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The error for a worker call that failed. */
export class CallFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Runs work in the worker, and returns its outcome. */
export async function outcomeOf<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, failure: toFailure(error) };
  }
}

/** Returns the failure that an error stands for. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: kindOf(error), message };
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof DOMException && error.name === 'AbortError') return 'stopped';
  return error instanceof RhythmError && error.name === 'InputError' ? 'refused' : 'failed';
}
