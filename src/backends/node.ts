/** What Node can compute with, in priority order. */
import type { AsyncBackend } from './async-backend.js';
import type { Availability, Backend } from './backend.js';
import { listed, listedAsync } from './choice.js';
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

/** What `createVecEnv` can use here, in priority order: each backend, then its kernels as `backend/kernel`. */
export const listBackends = (): Availability[] => listed(BACKENDS);

/** What `createAsyncVecEnv` can use here, in priority order. Asking may start a device's driver. */
export const listAsyncBackends = (): Promise<Availability[]> => listedAsync(ASYNC_BACKENDS);
