/** The backends of Node, in priority order. */
import type { AsyncBackend } from './async-backend.js';
import type { Availability, Backend } from './backend.js';
import { asyncAvailabilities, availabilities } from './choose-backend.js';
import { nativeBackend } from './native.js';
import type { Platform } from './platform.js';
import { queued } from './queued-backend.js';
import { referenceBackend } from './reference.js';
import { findNodeGpu } from './webgpu/node-gpu.js';
import { webGpuBackend } from './webgpu/webgpu-backend.js';

/** The backends of synchronous environments. */
export const BACKENDS: readonly Backend[] = [nativeBackend, referenceBackend];

/** The backends of asynchronous environments. */
export const ASYNC_BACKENDS: readonly AsyncBackend[] = [
  queued(nativeBackend),
  webGpuBackend(findNodeGpu),
  queued(referenceBackend),
];

export const NODE: Platform = { backends: BACKENDS, asyncBackends: ASYNC_BACKENDS };

/** Lists the backends of `createVecEnv` here, in priority order, each with its kernels as `backend/kernel`. */
export const listBackends = (): Availability[] => availabilities(BACKENDS);

/** Lists the backends of `createAsyncVecEnv` here, in priority order. May start a device's driver. */
export const listAsyncBackends = (): Promise<Availability[]> => asyncAvailabilities(ASYNC_BACKENDS);
