/** The backends of a platform, such as Node or browsers. */
import type { Backend, SyncBackend } from './backend.js';

/** Backends in priority order. */
export interface Platform {
  /** The backends of synchronous environments. */
  readonly backends: readonly SyncBackend[];
  /** The backends of asynchronous environments: these, and those that return promises. */
  readonly asyncBackends: readonly Backend[];
  /** Warns that 'auto' chose the reference, once per process. @param reason lists the backends tried before. */
  readonly warn?: (reason: string) => void;
}
