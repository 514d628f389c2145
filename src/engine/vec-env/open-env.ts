/** Environments of either API, synchronous or asynchronous, for code that runs on every backend. */

import { isAsynchronous, type Platform } from '../backends/open-batch.js';
import { type AsyncVecEnv, openAsyncVecEnv } from './async-vec-env.js';
import { openVecEnv, VecEnv } from './vec-env.js';
import type { StepResult, VecEnvOptions } from './vec-env-options.js';

/** An environment of the synchronous or the asynchronous API. Await the results of its calls. */
export type Env = VecEnv | AsyncVecEnv;

/**
 * Opens a vector environment with a platform's backends: an AsyncVecEnv on a backend whose calls return promises, and
 * a VecEnv on any other. 'auto' chooses as in `createVecEnv`.
 * @throws as `createVecEnv`.
 */
export function openEnvOn(platform: Platform, options: VecEnvOptions): Env | Promise<Env> {
  return isAsynchronous(platform, options.backend)
    ? openAsyncVecEnv(platform, options)
    : openVecEnv(platform, options);
}

/** Calls `env.assign(source, indices)`. The source must be of the same API as `env`. @throws as `VecEnv.assign`. */
export function assignEnv(
  env: Env,
  source: Env,
  indices: ArrayLike<number>,
): StepResult | Promise<StepResult> {
  return env instanceof VecEnv
    ? env.assign(source as VecEnv, indices)
    : env.assign(source as AsyncVecEnv, indices);
}
