/** Checks that a refused call changed nothing. */

import type { AsyncVecEnv, VecEnv } from '../../src/engine/node.js';
import type { StepResult } from '../../src/engine/vec-env/vec-env-options.js';
import { type Columns, copyColumns, copyOutputs, expectEqual } from './bits.js';

/** Copies outputs, seeds, episode numbers and counters, which can be read even after `close`. */
export function outputColumns(env: VecEnv | AsyncVecEnv, result: StepResult | null): Columns {
  const { steps, episodes } = env.counters;
  return {
    ...(result && copyOutputs(result)),
    ...copyColumns({ seeds: env.seeds, episodeNumbers: env.episodeNumbers }),
    counters: Uint32Array.of(steps, episodes),
  };
}

/** Returns `outputColumns`, with the states' hashes and the belief targets. */
export function envColumns(env: VecEnv, result: StepResult): Columns {
  return { ...outputColumns(env, result), hash: env.stateHash(), targets: env.beliefTargets() };
}

/** Runs `body` and expects that outputs and states have not changed. */
export function expectUnchanged(env: VecEnv, result: StepResult, body: () => void): void {
  const before = envColumns(env, result);
  body();
  expectEqual(before, envColumns(env, result), 'after a refusal:');
}
