/**
 * The backends of the page's workers: WebAssembly, else the reference. vite.config.ts replaces src/engine/backends/node.ts, which
 * planners, searches and the training of students reach, with this file. A worker awaits `loadWasm` (./wasm.ts) first.
 */
import { setArrays } from '../../../src/engine/arrays.js';
import type { Platform } from '../../../src/engine/backends/open-batch.js';
import { referenceBackend } from '../../../src/engine/backends/reference.js';
import { openWasmArrays } from '../../../src/engine/backends/wasm/wasm-arrays.js';
import { wasmBackend } from '../../../src/engine/backends/wasm/wasm-backend.js';
import { replayHistory } from '../../../src/engine/reference/saved-states.js';
import { openVecEnv, type VecEnv } from '../../../src/engine/vec-env/vec-env.js';
import type { VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';

setArrays(openWasmArrays);

const backends = [wasmBackend, referenceBackend];
export const NODE: Platform = { backends, asyncBackends: backends, replayHistory };

/** Creates an environment like the package's `createVecEnv`. */
export const createVecEnv = (options: VecEnvOptions): VecEnv => openVecEnv(NODE, options);
