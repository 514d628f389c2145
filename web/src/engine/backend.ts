/** In the worker: what this browser computes with. WebGPU where there is a device that is exact, else the reference. */
import { createAsyncVecEnv, listAsyncBackends } from '../../../src/browser.js';
import { BackendError } from '../../../src/errors.js';

/** Shown on the page, so in words. */
export interface Engine {
  readonly backend: 'webgpu' | 'reference';
  /** The device, as the browser describes it; null for the processor alone. */
  readonly adapter: string | null;
  /** Whether a processor pretends to be the device. */
  readonly software: boolean;
  /** Whether its episodes were compared with the reference's, bit for bit, when it was opened; the reference's are. */
  readonly exact: boolean;
  /** Why there is no device; null if there is one. */
  readonly whyNoDevice: string | null;
}

let chosen: Promise<Engine> | null = null;

/** Opened and proven once; again after a device was lost. @throws BackendError that nothing here can help. */
export function engine(): Promise<Engine> {
  chosen ??= choose();
  return chosen;
}

/** The device is gone: who asks next looks for another. */
export function forgetEngine(): void {
  chosen = null;
}

async function choose(): Promise<Engine> {
  const [webgpu] = await listAsyncBackends();
  if (!webgpu.available) return reference(webgpu.reason);
  try {
    await using env = await createAsyncVecEnv({ numEnvs: 1, backend: 'webgpu' });
    const { adapter, software, exact } = env.device!;
    return { backend: 'webgpu', adapter, software, exact, whyNoDevice: null };
  } catch (error) {
    // One whose arithmetic is another, say.
    if (error instanceof BackendError) return reference(error.message);
    throw error;
  }
}

const reference = (whyNoDevice = 'it cannot be used'): Engine => ({
  ...{ backend: 'reference', adapter: null, software: false, exact: true },
  whyNoDevice,
});
