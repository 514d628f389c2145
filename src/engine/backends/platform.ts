/** The backends of a platform, such as Node or browsers. */
import type { AsyncBackend } from './async-backend.js';
import type { Backend } from './backend.js';

/** Backends in priority order. Every synchronous backend has an asynchronous one of the same name. */
export interface Platform {
  /** The backends of synchronous environments. */
  readonly backends: readonly Backend[];
  /** The backends of asynchronous environments. */
  readonly asyncBackends: readonly AsyncBackend[];
  /** Warns that 'auto' chose the reference, once per process. @param reason lists the backends tried before. */
  readonly warn?: (reason: string) => void;
}
