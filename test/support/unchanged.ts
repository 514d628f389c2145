/** Whether a refused call left an environment as it was. */
import type { StepResult } from '../../src/vec-env/options.js';
import type { VecEnv } from '../../src/vec-env.js';
import { type Columns, copies, expectEqual, shown } from './bits.js';

/** What an environment shows at any time, closed or not. */
export function views(env: VecEnv, result: StepResult | null): Columns {
  const { steps, episodes } = env.counters;
  return {
    ...(result && shown(result)),
    ...copies({ seeds: env.seeds, episodeNumbers: env.episodeNumbers }),
    counters: Uint32Array.of(steps, episodes),
  };
}

/** The same, and the states behind it. */
export function visible(env: VecEnv, result: StepResult): Columns {
  return { ...views(env, result), hash: env.stateHash(), targets: env.beliefTargets() };
}

/** Runs `body` and expects that nothing that can be seen of the environment has changed, and that it goes on. */
export function expectUnchanged(env: VecEnv, result: StepResult, body: () => void): void {
  const before = visible(env, result);
  body();
  expectEqual(before, visible(env, result), 'after a refusal:');
}
