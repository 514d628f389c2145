/** The error of a queue. Its message contains no password. */
import { RhythmError } from '../../shared/errors.js';

/**
 * Thrown, for example, if Redis refuses, cannot be reached or would lose data; if the queue is of another version or world; or
 * if shards failed.
 */
export class QueueError extends RhythmError {
  constructor(message: string) {
    super('queue_failed', message);
  }
}

/** Thrown if the queue has jobs of another version or world than this program. */
export class ReleaseError extends QueueError {}
