/** The backends of this platform, in priority order: browsers. */
import type { AsyncBackend } from './async-backend.js';
import type { Backend } from './backend.js';
import type { Platform } from './platform.js';
import { queued } from './queued.js';
import { referenceBackend } from './reference.js';
import { webGpuBackend } from './webgpu/backend.js';
import { findBrowserGpu } from './webgpu/browser-gpu.js';

/** Those that a synchronous environment can use. */
export const BACKENDS: readonly Backend[] = [referenceBackend];

/** Those that an asynchronous environment can use. */
export const ASYNC_BACKENDS: readonly AsyncBackend[] = [
  webGpuBackend(findBrowserGpu),
  queued(referenceBackend),
];

export const BROWSER: Platform = { backends: BACKENDS, asyncBackends: ASYNC_BACKENDS };
