/**
 * The subpath `rhythm-vec/env` in Node: environments, graders, worlds, errors. `rhythm-vec` exports these too.
 * @module
 */

export { listAsyncBackends, listBackends } from '../engine/backends/node.js';
export { createAsyncVecEnv, createVecEnv } from '../engine/node.js';
export * from './common/env.js';
