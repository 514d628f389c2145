/** What browsers can compute with, in priority order. */
import type { Availability } from './backend.js';
import { listed, listedAsync } from './choice.js';
import type { Platform } from './platform.js';
import { queued } from './queued.js';
import { referenceBackend } from './reference.js';
import { webGpuBackend } from './webgpu/backend.js';
import { findBrowserGpu } from './webgpu/browser-gpu.js';

export const BROWSER: Platform = {
  backends: [referenceBackend],
  asyncBackends: [webGpuBackend(findBrowserGpu), queued(referenceBackend)],
};

/** What `createVecEnv` can use here, in priority order. */
export const listBackends = (): Availability[] => listed(BROWSER.backends);

/** What `createAsyncVecEnv` can use here, in priority order. */
export const listAsyncBackends = (): Promise<Availability[]> => listedAsync(BROWSER.asyncBackends);
