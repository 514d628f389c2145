/** AsyncVecEnv as Node has it. */
import { NODE } from './backends/node.js';
import { type AsyncVecEnv, openAsyncVecEnv } from './vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions } from './vec-env/options.js';

export { type AsyncRunOptions, AsyncVecEnv } from './vec-env/async-vec-env.js';

/**
 * Opens a batch of episodes on any backend. Call `reset` before anything else, `close` when done.
 * @returns a promise that rejects as `createVecEnv` throws.
 */
export function createAsyncVecEnv(options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  return openAsyncVecEnv(NODE, options);
}
