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
import type { Columns } from './bits.js';
import { DeferredBackend } from './deferred.js';
import { ENGINES, FASTEST, openOn, THOROUGH } from './engines.js';
import { outputColumns } from './unchanged.js';

/** The asynchronous API on a backend, and the synchronous API to compare it with. */
export interface ApiPair {
  readonly name: string;
  open(options: AsyncVecEnvOptions): Promise<AsyncVecEnv>;
  /** Opens the synchronous environment with which the asynchronous one is compared. */
  openSync(options: VecEnvOptions): VecEnv;
}

const deferred = new DeferredBackend();

/** The fastest kernel and a stand-in for a device: code above the backend interface is the same for all. */
export const API_PAIRS: readonly ApiPair[] = [
  ...(THOROUGH ? ENGINES.slice(0, 2) : FASTEST).map((engine) => ({
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

/** An API on a backend. Tests treat its environments as asynchronous: awaiting the result of a synchronous call is harmless. */
export interface Api extends ApiPair {
  readonly isSync: boolean;
}

const SYNC_APIS: readonly Api[] = API_PAIRS.slice(0, -1).map(({ name, openSync }) => ({
  name: `${name}, synchronous`,
  isSync: true,
  open: async (options) => openSync(options) as unknown as AsyncVecEnv,
  openSync,
}));
/** The synchronous API of the fastest kernel, then the asynchronous API of `API_PAIRS`. */
export const APIS: readonly Api[] = [
  ...SYNC_APIS,
  ...API_PAIRS.map((pair) => ({ ...pair, name: `${pair.name}, asynchronous`, isSync: false })),
];

/** Makes a call at once. @returns a promise, which rejects if the call throws. */
export const attempt = async <T>(call: () => T): Promise<Awaited<T>> => await call();

/** Copies outputs, state hashes and belief targets, as `envColumns` does for the synchronous API. */
export async function asyncEnvColumns(env: AsyncVecEnv, result: StepResult): Promise<Columns> {
  return { ...outputColumns(env, result), hash: await env.stateHash(), targets: await env.beliefTargets() };
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
