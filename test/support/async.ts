/** Asynchronous environments for tests, and all that can be seen of them. */
import type { AsyncVecEnv } from '../../src/async-vec-env.js';
import { createAsyncVecEnv } from '../../src/async-vec-env.js';
import { RhythmError } from '../../src/errors.js';
import { openAsyncVecEnv } from '../../src/vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions, StepResult, VecEnvOptions } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { type Columns, copies, shown } from './bits.js';
import { DeferredBackend } from './deferred.js';
import { ENGINES, NATIVE, openOn } from './engines.js';

/** A backend behind both faces. */
export interface Faces {
  readonly name: string;
  open(options: AsyncVecEnvOptions): Promise<AsyncVecEnv>;
  /** Its equal that throws. */
  openSync(options: VecEnvOptions): VecEnv;
}

const deferred = new DeferredBackend();

/**
 * The reference, the best of native, and what behaves as a device does: what is above the seam is the same for every
 * kernel.
 */
export const FACES: readonly Faces[] = [
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

/** What an environment shows at any time, closed or not. */
export function asyncViews(env: AsyncVecEnv, result: StepResult | null): Columns {
  const { steps, episodes } = env.counters;
  return {
    ...(result && shown(result)),
    ...copies({ seeds: env.seeds, episodeNumbers: env.episodeNumbers }),
    counters: Uint32Array.of(steps, episodes),
  };
}

/** The same, and the states behind it: as `visible` of a synchronous environment. */
export async function asyncVisible(env: AsyncVecEnv, result: StepResult): Promise<Columns> {
  const now = asyncViews(env, result);
  return { ...now, hash: await env.stateHash(), targets: await env.beliefTargets() };
}

/** The code of a rejection; null if there was none. */
export async function codeOf(promise: Promise<unknown>): Promise<string | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof RhythmError) return error.code;
    throw error;
  }
}

/** Whatever a promise rejects with. */
export const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('Expected a rejection, got none.')),
    (reason: unknown) => reason,
  );
