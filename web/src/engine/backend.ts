/** Chooses the backend, in the worker: WebGPU if there is an exact device, else WebAssembly, else the reference. */
import { createAsyncVecEnv, listAsyncBackends, listBackends } from '../../../src/browser.js';
import { BackendError } from '../../../src/shared/errors.js';

/** The backend in use, as the page shows it. */
export interface ChosenBackend {
  readonly name: 'webgpu' | 'wasm' | 'reference';
  /** The device, as the browser describes it; null for the processor alone. */
  readonly adapter: string | null;
  /** Whether the device is emulated by the processor. */
  readonly software: boolean;
  /** Whether the backend's episodes equalled the reference's bit for bit when it was opened. True without a device. */
  readonly exact: boolean;
  /** The reason why no device is used; null if one is. */
  readonly noDeviceReason: string | null;
}

/** The search for a backend, which may have ended; null before it begins. */
let search: Promise<ChosenBackend> | null = null;
let chosen: ChosenBackend | null = null;

/** Returns the backend. The first call, and the first call after `forgetBackend`, chooses and verifies it. */
export function findBackend(): Promise<ChosenBackend> {
  search ??= choose().then((found) => {
    chosen = found;
    return found;
  });
  return search;
}

/** Returns the backend; null until it is chosen. */
export const knownBackend = (): ChosenBackend | null => chosen;

/** Makes the next call of `findBackend` choose again. Called after a lost device or an unexpected error. */
export function forgetBackend(): void {
  search = null;
  chosen = null;
}

async function choose(): Promise<ChosenBackend> {
  const [webgpu] = await listAsyncBackends();
  if (!webgpu.available) return processor(webgpu.reason);
  try {
    await using env = await createAsyncVecEnv({ numEnvs: 1, backend: 'webgpu' });
    const { adapter, software, exact } = env.device!;
    return { name: 'webgpu', adapter, software, exact, noDeviceReason: null };
  } catch (error) {
    // For example, a device whose arithmetic is not exact.
    if (error instanceof BackendError) return processor(error.message);
    throw error;
  }
}

const processor = (noDeviceReason = 'WebGPU cannot be used.'): ChosenBackend => ({
  name: processorBackend(),
  adapter: null,
  software: false,
  exact: true,
  noDeviceReason,
});

/** Returns the fastest backend of the processor. */
export const processorBackend = () =>
  listBackends().find(({ available }) => available)!.name as 'wasm' | 'reference';
