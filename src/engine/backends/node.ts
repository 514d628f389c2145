/** The backends of Node, in priority order. */

import { preferArrays } from '../arrays.js';
import { loadAddon } from './addon.js';
import type { Availability, Backend, SyncBackend } from './backend.js';
import { asyncAvailabilities, availabilities } from './choose-backend.js';
import { nativeBackend } from './native.js';
import type { Platform } from './platform.js';
import { referenceBackend } from './reference.js';
import { wasmBackend } from './wasm/wasm-backend.js';
import { findNodeGpu } from './webgpu/node-gpu.js';
import { webGpuBackend } from './webgpu/webgpu-backend.js';

preferArrays(loadAddon);

/** The backends of synchronous environments. */
export const BACKENDS: readonly SyncBackend[] = [nativeBackend, wasmBackend, referenceBackend];

/** The backends of asynchronous environments. */
export const ASYNC_BACKENDS: readonly Backend[] = [
  nativeBackend,
  wasmBackend,
  webGpuBackend(findNodeGpu),
  referenceBackend,
];

let hasWarned = false;

/** Prints a warning to the standard error, unless Node's `--no-warnings` or an earlier warning prevents it. */
function warn(reason: string): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `Uses the reference backend, about a hundred times slower than the native one (${reason}). ` +
      "Pass backend: 'reference' to use it without this warning.",
    { type: 'RhythmWarning', code: 'RHYTHM_REFERENCE' },
  );
}

/** The backends of `createVecEnv` and `createAsyncVecEnv` in Node. */
export const NODE: Platform = { backends: BACKENDS, asyncBackends: ASYNC_BACKENDS, warn };

/** Lists the backends of `createVecEnv` here, in priority order, each with its kernels as `backend/kernel`. */
export const listBackends = (): Availability[] => availabilities(BACKENDS);

/** Lists the backends of `createAsyncVecEnv` here, in priority order. May start a device's driver. */
export const listAsyncBackends = (): Promise<Availability[]> => asyncAvailabilities(ASYNC_BACKENDS);
