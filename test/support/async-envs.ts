/** Asynchronous environments for tests, and copies of everything that they return. */

import type { AsyncVecEnv, VecEnv } from '../../src/engine/node.js';
import { createAsyncVecEnv } from '../../src/engine/node.js';
import { openAsyncVecEnv } from '../../src/engine/vec-env/async-vec-env.js';
import type {
  AsyncVecEnvOptions,
  StepResult,
  VecEnvOptions,
} from '../../src/engine/vec-env/vec-env-options.js';
import { RhythmError } from '../../src/shared/errors.js';
import { type Columns, copyColumns, copyOutputs } from './bits.js';
import { DeferredBackend } from './deferred.js';
import { ENGINES, NATIVE, openOn } from './engines.js';

/** The asynchronous API on a backend, and the synchronous API to compare it with. */
export interface ApiPair {
  readonly name: string;
  open(options: AsyncVecEnvOptions): Promise<AsyncVecEnv>;
  /** Opens the synchronous environment with which the asynchronous one is compared. */
  openSync(options: VecEnvOptions): VecEnv;
}

const deferred = new DeferredBackend();

/** The reference, the fastest kernel and a stand-in for a device: code above the backend interface is the same for all. */
export const API_PAIRS: readonly ApiPair[] = [
  ...[ENGINES[0], ...NATIVE.slice(0, 1)].map((engine) => ({
    name: engine.name,
    open: (options: AsyncVecEnvOptions) =>
      createAsyncVecEnv({ backend: engine.backend, kernel: engine.kernel, ...options }),
    openSync: (options: VecEnvOptions) => openOn(engine, options),
  })),
  {
    name: 'deferred',
    open: (options) => openAsyncVecEnv(deferred.platform, { backend: 'deferred', ...options }),
    openSync: (options) => openOn(ENGINES[0], options),
  },
];

/** Copies outputs, seeds, episode numbers and counters, which can be read even after `close`. */
export function asyncOutputColumns(env: AsyncVecEnv, result: StepResult | null): Columns {
  const { steps, episodes } = env.counters;
  return {
    ...(result && copyOutputs(result)),
    ...copyColumns({ seeds: env.seeds, episodeNumbers: env.episodeNumbers }),
    counters: Uint32Array.of(steps, episodes),
  };
}

/** Copies outputs, state hashes and belief targets, as `envColumns` does for the synchronous API. */
export async function asyncEnvColumns(env: AsyncVecEnv, result: StepResult): Promise<Columns> {
  const outputs = asyncOutputColumns(env, result);
  return { ...outputs, hash: await env.stateHash(), targets: await env.beliefTargets() };
}

/** Returns the code of a rejection; null if the promise resolves. */
export async function codeOf(promise: Promise<unknown>): Promise<string | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof RhythmError) return error.code;
    throw error;
  }
}

/** Returns the reason of a rejection. Rejects if the promise resolves. */
export const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('Expected a rejection, got none.')),
    (reason: unknown) => reason,
  );
