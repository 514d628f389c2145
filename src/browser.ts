/** rhythm-vec in browsers: what needs no Node. No module of Node's can be reached from here. */
import { BROWSER } from './backends/browser.js';
import type { RolloutOptions } from './rollout/groups/options.js';
import type { RolloutGroups } from './rollout/groups/recording.js';
import type { ReplayColumns } from './rollout/replay/columns.js';
import type { ReplayRow } from './rollout/replay/objects.js';
import { rolloutGroupsOn } from './rollout/rollout-groups.js';
import { type ReplayOptions, type ReplayScores, scoreReplayOn } from './rollout/score-replay.js';
import { type AsyncVecEnv, openAsyncVecEnv } from './vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions, VecEnvOptions } from './vec-env/options.js';
import { openVecEnv, type VecEnv } from './vec-env/vec-env.js';

export { listAsyncBackends, listBackends } from './backends/browser.js';
export * from './everywhere.js';

/** As in Node, on the reference: the only backend here whose calls can return at once. @throws as there. */
export function createVecEnv(options: VecEnvOptions): VecEnv {
  return openVecEnv(BROWSER, options);
}

/** As in Node, on any backend that a browser has. */
export function createAsyncVecEnv(options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  return openAsyncVecEnv(BROWSER, options);
}

/** As in Node, on the reference. */
export function rolloutGroups(options: RolloutOptions): Promise<RolloutGroups> {
  return rolloutGroupsOn(BROWSER, options);
}

/** As in Node, on the reference. @throws as there. */
export function scoreReplay(
  rows: ReplayColumns | readonly ReplayRow[],
  options: ReplayOptions = {},
): ReplayScores {
  return scoreReplayOn(BROWSER, rows, options);
}
