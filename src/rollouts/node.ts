/** Rollout groups and replay scoring on Node's backends. */
import { NODE } from '../engine/backends/node.js';
import type { RolloutGroups } from './groups/group-recorder.js';
import type { RolloutOptions } from './groups/group-start.js';
import { rolloutGroupsOn } from './groups/rollout-groups.js';
import type { ReplayInput } from './replay/check-rows.js';
import {
  type ReplayOptions,
  type ReplayScores,
  scoreReplayAsyncOn,
  scoreReplayOn,
} from './replay/score-replay.js';
import { createTextEnvOn, type TextEnv, type TextEnvOptions } from './text/text-env.js';

/**
 * Plays groups of rollouts to the end of their episodes, each group from one seed or one state. The backend, kernel and threads
 * do not change the results.
 * @returns a promise. It rejects with InputError for an invalid option or policy output (as `createVecEnv`, `reset`,
 *   `restore`, `fork` and `step` throw); with StateError if `from.source` cannot be forked (closed or never reset, say);
 *   with BackendError if the backend or kernel is unavailable or memory runs out; with the signal's reason;
 *   with InputError `policy_failed`, whose `cause` is the policy's error; or with the error of `onProgress`. No
 *   environment stays open.
 */
export function rolloutGroups(options: RolloutOptions): Promise<RolloutGroups> {
  return rolloutGroupsOn(NODE, options);
}

/**
 * Scores completions. Each row has a seed, the actions taken before, and either a completion or its action and belief. The
 * scores of a row depend on this row alone.
 * @param rows columns, which are validated and then read in place, or objects.
 * @throws InputError for an invalid option, or for columns of a wrong type or length; with `onFault: 'throw'` also for
 *   the first invalid row. BackendError if the backend or kernel is unavailable or memory runs out.
 */
export function scoreReplay(rows: ReplayInput, options: ReplayOptions = {}): ReplayScores {
  return scoreReplayOn(NODE, rows, options);
}

/**
 * Does the same as `scoreReplay`, on any backend. Columns are read until the promise settles: do not change them before.
 * @returns a promise that rejects as `scoreReplay` throws.
 */
export function scoreReplayAsync(rows: ReplayInput, options: ReplayOptions = {}): Promise<ReplayScores> {
  return scoreReplayAsyncOn(NODE, rows, options);
}

/**
 * Opens an environment whose observations and actions are texts. Call `reset` first, and `close` when done.
 * @throws InputError for an invalid option; BackendError if the backend or kernel is unavailable.
 */
export function createTextEnv(options: TextEnvOptions = {}): TextEnv {
  return createTextEnvOn(NODE, options);
}
