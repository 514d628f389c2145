/** The subpath `rhythm-vec/agents` in browsers. Its students compute in WebAssembly. */
import { setArrays } from '../../engine/arrays.js';
import { openWasmArrays } from '../../engine/backends/wasm/wasm-arrays.js';

export * from '../common/agents.js';

setArrays(openWasmArrays);
