/** Asynchronous environments for tests, and all that can be seen of them. */
import type { AsyncVecEnv } from '../../src/async-vec-env.js';
import { createAsyncVecEnv } from '../../src/async-vec-env.js';
import { RhythmError } from '../../src/errors.js';
import type { AsyncVecEnvOptions, StepResult } from '../../src/vec-env/options.js';
import { type Columns, copies, shown } from './bits.js';
import { ENGINES, type Engine, NATIVE } from './engines.js';

/** The reference, and the best of native: what is above the seam is the same for every kernel. */
export const SOME: readonly Engine[] = [ENGINES[0], ...NATIVE.slice(0, 1)];

export const openAsyncOn = ({ backend, kernel }: Engine, options: AsyncVecEnvOptions): Promise<AsyncVecEnv> =>
  createAsyncVecEnv({ backend, kernel, ...options });

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
