/// <reference types="@webgpu/types" />
/** The backends of browsers, in priority order. */
import type { Availability } from './backend.js';
import { listed, listedAsync } from './choose-backend.js';
import type { Platform } from './platform.js';
import { queued } from './queued-backend.js';
import { referenceBackend } from './reference.js';
import { webGpuBackend } from './webgpu/webgpu-backend.js';

/** Finds WebGPU: `navigator.gpu`, on pages served over HTTPS or from localhost. */
export async function findBrowserGpu(): Promise<GPU | null> {
  const { navigator } = globalThis as { navigator?: { gpu?: GPU } };
  return navigator?.gpu ?? null;
}

export const BROWSER: Platform = {
  backends: [referenceBackend],
  asyncBackends: [webGpuBackend(findBrowserGpu), queued(referenceBackend)],
};

/** Lists the backends of `createVecEnv` here, in priority order. */
export const listBackends = (): Availability[] => listed(BROWSER.backends);

/** Lists the backends of `createAsyncVecEnv` here, in priority order. */
export const listAsyncBackends = (): Promise<Availability[]> => listedAsync(BROWSER.asyncBackends);
