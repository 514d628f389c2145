/** The backends of this platform, in priority order: Node. */
import type { AsyncBackend } from './async-backend.js';
import type { Backend } from './backend.js';
import { nativeBackend } from './native.js';
import type { Platform } from './platform.js';
import { queued } from './queued.js';
import { referenceBackend } from './reference.js';
import { webGpuBackend } from './webgpu/backend.js';
import { findNodeGpu } from './webgpu/node-gpu.js';

/** Those that a synchronous environment can use. */
export const BACKENDS: readonly Backend[] = [nativeBackend, referenceBackend];

/** Those that an asynchronous environment can use. */
export const ASYNC_BACKENDS: readonly AsyncBackend[] = [
  queued(nativeBackend),
  webGpuBackend(findNodeGpu),
  queued(referenceBackend),
];

export const NODE: Platform = { backends: BACKENDS, asyncBackends: ASYNC_BACKENDS };
