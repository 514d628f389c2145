/** Chooses the device that trains, in the worker. */
import { defaultDevice, init } from '@jax-js/jax';
import { isSoftware } from '../../../src/engine/backends/webgpu/device.js';
import type { TrainingRequest } from './training-types.js';

/**
 * Makes jax-js use the chosen device. 'auto' chooses WebGPU, unless there is none or its adapter is emulated by the processor,
 * which would be slower than WebAssembly.
 * @returns the device's name in jax-js. @throws Error if WebGPU is requested and there is none.
 */
export async function useDevice(choice: TrainingRequest['device']): Promise<string> {
  const triesGpu = choice === 'webgpu' || (choice === 'auto' && (await hasHardwareGpu()));
  if (triesGpu && (await init('webgpu')).includes('webgpu')) return defaultDevice('webgpu');
  if (choice === 'webgpu')
    throw new Error('Expected a WebGPU device, got none. Choose the processor in the settings.');
  return defaultDevice(typeof WebAssembly === 'undefined' ? 'cpu' : 'wasm');
}

/** Returns whether WebGPU has an adapter that is not emulated by the processor. */
async function hasHardwareGpu(): Promise<boolean> {
  const adapter = (await navigator.gpu?.requestAdapter()) ?? null;
  return adapter !== null && !isSoftware(adapter.info);
}
