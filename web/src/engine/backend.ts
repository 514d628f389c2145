/** Chooses the backend, in the worker: WebGPU if there is an exact device, else the reference. */
import { createAsyncVecEnv, listAsyncBackends } from '../../../src/browser.js';
import { BackendError } from '../../../src/shared/errors.js';

/** The backend in use, as the page shows it. */
export interface Engine {
  readonly backend: 'webgpu' | 'reference';
  /** The device, as the browser describes it; null for the processor alone. */
  readonly adapter: string | null;
  /** Whether the device is emulated by the processor. */
  readonly software: boolean;
  /** Whether the backend's episodes equalled the reference's bit for bit when it was opened. True for the reference itself. */
  readonly exact: boolean;
  /** The reason why no device is used; null if one is. */
  readonly noDeviceReason: string | null;
}

let enginePromise: Promise<Engine> | null = null;
let chosen: Engine | null = null;

/** Returns the backend. The first call, and the first call after `forgetEngine`, chooses and verifies it. */
export function engine(): Promise<Engine> {
  enginePromise ??= choose().then((found) => {
    chosen = found;
    return found;
  });
  return enginePromise;
}

/** Returns the backend; null while it is being chosen. */
export const engineIfKnown = (): Engine | null => chosen;

/** Makes the next call of `engine` choose again, after the device was lost. */
export function forgetEngine(): void {
  enginePromise = null;
  chosen = null;
}

async function choose(): Promise<Engine> {
  const [webgpu] = await listAsyncBackends();
  if (!webgpu.available) return reference(webgpu.reason);
  try {
    await using env = await createAsyncVecEnv({ numEnvs: 1, backend: 'webgpu' });
    const { adapter, software, exact } = env.device!;
    return { backend: 'webgpu', adapter, software, exact, noDeviceReason: null };
  } catch (error) {
    // For example, a device whose arithmetic is not exact.
    if (error instanceof BackendError) return reference(error.message);
    throw error;
  }
}

const reference = (noDeviceReason = 'WebGPU cannot be used.'): Engine => ({
  backend: 'reference',
  adapter: null,
  software: false,
  exact: true,
  noDeviceReason,
});
