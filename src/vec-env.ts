/** VecEnv as Node has it. */
import { NODE } from './backends/node.js';
import type { VecEnvOptions } from './vec-env/options.js';
import { openVecEnv, type VecEnv } from './vec-env/vec-env.js';

export type { EnvSpec } from './vec-env/properties.js';
export { type RunOptions, VecEnv } from './vec-env/vec-env.js';

/**
 * Opens a batch of episodes. Call `reset` before anything else, `close` when done.
 * @throws InputError for an option that is unknown, of a wrong type or out of range, or a malformed world;
 *   BackendError if the backend or kernel asked for cannot be used here, or there is no memory.
 */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return openVecEnv(NODE, options);
}
