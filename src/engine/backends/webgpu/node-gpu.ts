/// <reference types="@webgpu/types" />
/** Finds WebGPU in Node: the optional package `webgpu` (Dawn). */
import { importOptional } from '../../../shared/optional-packages.js';
import { unavailable } from './device.js';

let gpu: Promise<GPU> | null = null;

/**
 * Returns the package's GPU object, the same at every call. Dawn crashes if it is garbage-collected.
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
    const missing = (cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    throw unavailable(
      missing
        ? 'In Node this backend needs the optional package webgpu. Run npm install webgpu.'
        : `The package webgpu cannot be loaded: ${(cause as Error).message}`,
      cause,
    );
  }
}
