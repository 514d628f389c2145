/** Rollouts and replays as Node has them. */
import { NODE } from './backends/node.js';
import type { RolloutOptions } from './rollout/groups/options.js';
import type { RolloutGroups } from './rollout/groups/recording.js';
import type { ReplayColumns } from './rollout/replay/columns.js';
import type { ReplayRow } from './rollout/replay/objects.js';
import { rolloutGroupsOn } from './rollout/rollout-groups.js';
import { type ReplayOptions, type ReplayScores, scoreReplayOn } from './rollout/score-replay.js';

/**
 * Plays groups of rollouts to their ends, each group from one seed or one state. What comes out is a function of seeds
 * or states, policy and grader, whatever backend, kernel and threads compute it.
 * @returns a promise that rejects with InputError for an option, or for what the policy answers, as `createVecEnv`, `reset`,
 *   `restore`, `fork` and `step` throw; BackendError if the backend or kernel asked for cannot be used here, or there is no
 *   memory; the signal's reason; or what the policy or `onProgress` throws. Nothing is left open.
 */
export function rolloutGroups(options: RolloutOptions): Promise<RolloutGroups> {
  return rolloutGroupsOn(NODE, options);
}

/**
 * Scores completions: each row is a seed, the actions taken before, and the action and belief that are proposed. A row's
 * scores depend on that row alone.
 * @param rows a column each, checked and then used where they lie; or objects.
 * @throws InputError for an option, or columns of another type or length; with `onFault: 'throw'` for the first fault that is
 *   found; BackendError if the backend or kernel asked for cannot be used here, or there is no memory.
 */
export function scoreReplay(
  rows: ReplayColumns | readonly ReplayRow[],
  options: ReplayOptions = {},
): ReplayScores {
  return scoreReplayOn(NODE, rows, options);
}
