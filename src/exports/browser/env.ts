/** The subpath `rhythm-vec/env` in browsers. It imports no Node module. */
import { BROWSER } from '../../engine/backends/browser.js';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../engine/vec-env/async-vec-env.js';
import { openVecEnv, type VecEnv } from '../../engine/vec-env/vec-env.js';
import type { AsyncVecEnvOptions, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';

export { listAsyncBackends, listBackends } from '../../engine/backends/browser.js';
export * from '../common/env.js';

/** Creates an environment like `createVecEnv` in Node, on `wasm` or the reference, the synchronous backends of browsers. */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return openVecEnv(BROWSER, options);
}

/** Creates an environment like `createAsyncVecEnv` in Node, on any backend that the browser supports. */
export function createAsyncVecEnv(options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  return openAsyncVecEnv(BROWSER, options);
}
