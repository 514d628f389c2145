/** The public API of rhythm-vec in browsers. It imports no Node module. */
import { BROWSER } from './engine/backends/browser.js';
import { type AsyncVecEnv, openAsyncVecEnv } from './engine/vec-env/async-vec-env.js';
import { openVecEnv, type VecEnv } from './engine/vec-env/vec-env.js';
import type { AsyncVecEnvOptions, VecEnvOptions } from './engine/vec-env/vec-env-options.js';
import type { RolloutOptions } from './rollouts/groups/group-options.js';
import type { RolloutGroups } from './rollouts/groups/group-recorder.js';
import { rolloutGroupsOn } from './rollouts/groups/rollout-groups.js';
import type { ReplayColumns } from './rollouts/replay/row-columns.js';
import type { ReplayRow } from './rollouts/replay/row-objects.js';
import { type ReplayOptions, type ReplayScores, scoreReplayOn } from './rollouts/replay/score-replay.js';

export * from './common-exports.js';
export { listAsyncBackends, listBackends } from './engine/backends/browser.js';

/** Creates an environment on the reference, the only synchronous backend in browsers. Otherwise as in Node. */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return openVecEnv(BROWSER, options);
}

/** Creates an asynchronous environment on any backend that the browser supports. Otherwise as in Node. */
export function createAsyncVecEnv(options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  return openAsyncVecEnv(BROWSER, options);
}

/** Plays groups of rollouts on the reference. Otherwise as in Node. */
export function rolloutGroups(options: RolloutOptions): Promise<RolloutGroups> {
  return rolloutGroupsOn(BROWSER, options);
}

/** Scores completions on the reference. Otherwise as in Node. */
export function scoreReplay(
  rows: ReplayColumns | readonly ReplayRow[],
  options: ReplayOptions = {},
): ReplayScores {
  return scoreReplayOn(BROWSER, rows, options);
}
