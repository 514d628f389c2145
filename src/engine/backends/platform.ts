/** The type of a platform: its backends. It is passed to environments, so that nothing else depends on it. */
import type { AsyncBackend } from './async-backend.js';
import type { Backend } from './backend.js';

/** Backends in priority order. Every synchronous backend has an asynchronous one of the same name. */
export interface Platform {
  /** The backends of synchronous environments. */
  readonly backends: readonly Backend[];
  /** The backends of asynchronous environments. */
  readonly asyncBackends: readonly AsyncBackend[];
}
