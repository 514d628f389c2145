/** The errors of a queue. Their messages contain no password. */
import { RhythmError } from '../../shared/errors.js';

/** Thrown, for example, if Redis cannot be reached, refuses a command or has settings that may lose data; or if shards fail. */
export class QueueError extends RhythmError {
  constructor(message: string) {
    super('queue_failed', message);
  }
}

/** Thrown if the queue has open jobs of another version or world. */
export class ReleaseError extends QueueError {}
