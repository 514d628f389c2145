/** Creates VecEnv and AsyncVecEnv with Node's backends. */
import { NODE } from './backends/node.js';
import { type AsyncVecEnv, type Env, openAsyncVecEnv, openEnvOn } from './vec-env/async-vec-env.js';
import { openVecEnv, type VecEnv } from './vec-env/vec-env.js';
import type { AsyncVecEnvOptions, VecEnvOptions } from './vec-env/vec-env-options.js';

export type { Env } from './vec-env/async-vec-env.js';
export { type AsyncRunOptions, AsyncVecEnv } from './vec-env/async-vec-env.js';
export type { EnvSpec } from './vec-env/properties.js';
export { type RunOptions, VecEnv } from './vec-env/vec-env.js';

/**
 * Opens a batch of episodes. Call `reset`, `restore` or `assign` first, and `close` when done.
 * @throws InputError for an option that is unknown, of a wrong type or out of range, or a malformed world;
 *   BackendError if the requested backend or kernel cannot be used here, or if there is not enough memory.
 */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return openVecEnv(NODE, options);
}

/**
 * Opens a batch of episodes on any backend. Call `reset`, `restore` or `assign` first, and `close` when done.
 * @returns a promise that rejects as `createVecEnv` throws.
 */
export function createAsyncVecEnv(options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  return openAsyncVecEnv(NODE, options);
}

/**
 * Opens a batch of episodes on any backend, for code that awaits the results of all calls: an AsyncVecEnv on a backend
 * whose calls return promises, else a VecEnv, which is faster. 'auto' chooses as in `createVecEnv`.
 * @throws as `createVecEnv`, or rejects as `createAsyncVecEnv`.
 */
export function openEnv(options: VecEnvOptions): Env | Promise<Env> {
  return openEnvOn(NODE, options);
}
