/// <reference types="@webgpu/types" />
/** The backends of browsers, in priority order. */

import { setArrays } from '../arrays.js';
import { replayHistory } from '../reference/saved-states.js';
import type { Availability } from './backend.js';
import { asyncAvailabilities, availabilities, type Platform } from './open-batch.js';
import { referenceBackend } from './reference.js';
import { openWasmArrays } from './wasm/wasm-arrays.js';
import { wasmBackend } from './wasm/wasm-backend.js';
import { webGpuBackend } from './webgpu/webgpu-backend.js';

setArrays(openWasmArrays);

/** @internal Returns `navigator.gpu`, or null. Only pages from HTTPS or localhost have it. The types of the package lack GPU. */
export async function findBrowserGpu(): Promise<GPU | null> {
  const { navigator } = globalThis as { navigator?: { gpu?: GPU } };
  return navigator?.gpu ?? null;
}

/** The backends of `createVecEnv` and `createAsyncVecEnv` in browsers. */
export const BROWSER: Platform = {
  backends: [wasmBackend, referenceBackend],
  asyncBackends: [webGpuBackend(findBrowserGpu), wasmBackend, referenceBackend],
  replayHistory,
};

/** Lists the backends of `createVecEnv` here, in priority order. */
export const listBackends = (): Availability[] => availabilities(BROWSER.backends);

/** Lists the backends of `createAsyncVecEnv` here, in priority order. */
export const listAsyncBackends = (): Promise<Availability[]> => asyncAvailabilities(BROWSER.asyncBackends);
