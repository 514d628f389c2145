/** What a socket's client is told of a message that was refused. */
import { RhythmError } from '../../errors.js';
import { RefusedError } from '../protocol/refusals.js';
import { type Answer, errorAnswer } from './talk.js';

/** What cannot be done now, although the message is well-formed. */
export class NotNowError extends Error {}

/** @throws what nobody foresaw. */
export function refusalOf(error: unknown): Answer {
  if (error instanceof RefusedError) {
    return errorAnswer('VALIDATION_ERROR', 'Invalid message', { errors: error.refusals });
  }
  if (error instanceof NotNowError || error instanceof RhythmError) {
    return errorAnswer('EXECUTION_ERROR', error.message);
  }
  throw error;
}
