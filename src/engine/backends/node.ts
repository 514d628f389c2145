/// <reference types="@webgpu/types" />
/** The backends of Node, in priority order, with WebGPU from the optional package `webgpu` (Dawn). */

import { importOptional, isNotInstalled } from '../../shared/optional-packages.js';
import { setArrays } from '../arrays.js';
import { replayHistory } from '../reference/saved-states.js';
import { loadAddon } from './addon.js';
import type { Availability, Backend, SyncBackend } from './backend.js';
import { nativeBackend } from './native.js';
import { asyncAvailabilities, availabilities, type Platform } from './open-batch.js';
import { referenceBackend } from './reference.js';
import { openWasmArrays } from './wasm/wasm-arrays.js';
import { wasmBackend } from './wasm/wasm-backend.js';
import { unavailable } from './webgpu/device.js';
import { webGpuBackend } from './webgpu/webgpu-backend.js';

setArrays(loadAddon, openWasmArrays);

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
export const NODE: Platform = { backends: BACKENDS, asyncBackends: ASYNC_BACKENDS, replayHistory, warn };

/** Lists the backends of `createVecEnv` here, in priority order, each with its kernels as `backend/kernel`. */
export const listBackends = (): Availability[] => availabilities(BACKENDS);

/** Lists the backends of `createAsyncVecEnv` here, in priority order. May start a device's driver. */
export const listAsyncBackends = (): Promise<Availability[]> => asyncAvailabilities(ASYNC_BACKENDS);

let gpu: Promise<GPU> | null = null;

/**
 * @internal Returns the package's GPU object, the same at every call. Dawn crashes if it is garbage-collected.
 * @throws BackendError `backend_unavailable`.
 */
export function findNodeGpu(): Promise<GPU> {
  gpu ??= load();
  return gpu;
}

async function load(): Promise<GPU> {
  try {
    const { create } = await importOptional<typeof import('webgpu')>('webgpu');
    return create([]);
  } catch (cause) {
    throw unavailable(
      isNotInstalled(cause)
        ? 'In Node this backend needs the optional package webgpu. Run npm install webgpu.'
        : `The package webgpu cannot be loaded: ${(cause as Error).message}`,
      cause,
    );
  }
}
