/** How a call of a worker ended. Errors lose all but their message on the way; what a page must know of them is data. */
import { RhythmError } from '../../../src/errors.js';

/** 'lost': the device is gone. 'stopped': somebody asked for that. 'refused': an argument. 'failed': anything else. */
export type FailureKind = 'lost' | 'stopped' | 'refused' | 'failed';

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** A call of a worker that ended otherwise than with a value. */
export class CallFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** In the worker: what became of some work. */
export async function outcomeOf<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, failure: toFailure(error) };
  }
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: kindOf(error), message };
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof DOMException && error.name === 'AbortError') return 'stopped';
  if (!(error instanceof RhythmError)) return 'failed';
  if (error.code === 'device_lost') return 'lost';
  return error.name === 'InputError' ? 'refused' : 'failed';
}
