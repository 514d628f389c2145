/** What a platform can compute with. Whoever makes environments is given it, so that nothing else depends on it. */
import type { AsyncBackend } from './async-backend.js';
import type { Backend } from './backend.js';

/** Both in priority order. Every name of a synchronous backend is one of an asynchronous backend too. */
export interface Platform {
  /** Those that a synchronous environment can use. */
  readonly backends: readonly Backend[];
  /** Those that an asynchronous environment can use. */
  readonly asyncBackends: readonly AsyncBackend[];
}
