/** Whether a refused call left an environment as it was. */

import type { StepResult } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { type Columns, copies, expectEqual, shown } from './bits.js';

export function visible(env: VecEnv, result: StepResult): Columns {
  return {
    ...shown(result),
    ...copies({ truncated: result.truncated, seeds: env.seeds }),
    hash: env.stateHash(),
    targets: env.beliefTargets(),
  };
}

/** Runs `body` and expects that nothing that can be seen of the environment has changed, and that it goes on. */
export function expectUnchanged(env: VecEnv, result: StepResult, body: () => void): void {
  const before = visible(env, result);
  body();
  expectEqual(before, visible(env, result), 'after a refusal:');
}
