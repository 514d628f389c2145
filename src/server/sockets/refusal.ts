/** Converts errors to answers. */
import { RhythmError } from '../../shared/errors.js';
import { RefusedError } from '../protocol/refusals.js';
import { type Answer, errorAnswer } from './message-handler.js';

/** The error for a well-formed message that is not possible in the current state. */
export class InvalidStateError extends Error {}

/** Returns the answer for an error of a client. @throws unexpected errors. */
export function refusalOf(error: unknown): Answer {
  if (error instanceof RefusedError) {
    return errorAnswer('VALIDATION_ERROR', 'Invalid message', { errors: error.refusals });
  }
  if (error instanceof InvalidStateError || error instanceof RhythmError) {
    return errorAnswer('EXECUTION_ERROR', error.message);
  }
  throw error;
}
