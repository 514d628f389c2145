/** Converts errors to answers over a WebSocket. */
import { RhythmError } from '../../shared/errors.js';
import { InvalidRequestError } from '../protocol/errors.js';
import { type Answer, errorAnswer } from './message-handler.js';

/** The error for a well-formed message that the current state does not allow. */
export class InvalidStateError extends Error {}

/** Returns the answer for an error of a client. @throws unexpected errors. */
export function toErrorAnswer(error: unknown): Answer {
  if (error instanceof InvalidRequestError) {
    return errorAnswer('VALIDATION_ERROR', 'Invalid message', { errors: error.errors });
  }
  if (error instanceof InvalidStateError || error instanceof RhythmError) {
    return errorAnswer('EXECUTION_ERROR', error.message);
  }
  throw error;
}
