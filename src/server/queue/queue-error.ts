/** The error of a queue. Its message contains no password. */
import { RhythmError } from '../../shared/errors.js';

/** Redis refused, cannot be reached or would lose data; the queue is of another version or world; or shards failed. */
export class QueueError extends RhythmError {
  constructor(message: string) {
    super('queue_failed', message);
  }
}

/** The queue has jobs of another version or world than this program. */
export class ReleaseError extends QueueError {}
