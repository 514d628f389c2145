/** The WebAssembly backend: the portable kernel of native/ on one thread, in every runtime that has WebAssembly with SIMD. */
import type { Availability, Backend, Batch, BatchOptions } from '../backend.js';
import { placeOutputs, requireSizes } from './instance.js';
import { WasmBatch } from './wasm-batch.js';

/** The backend in WebAssembly. */
export const wasmBackend: Backend = { name: 'wasm', availability, kernels: () => [], open, placeOutputs };

function availability(): Availability {
  try {
    requireSizes();
    return { name: 'wasm', available: true };
  } catch (cause) {
    const reason = `This runtime does not compile WebAssembly with SIMD: ${(cause as Error).message}`;
    return { name: 'wasm', available: false, reason };
  }
}

function open(options: BatchOptions): Batch {
  return new WasmBatch(options);
}
