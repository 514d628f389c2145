/** The subpath `rhythm-vec/rollouts` in browsers. It imports no Node module. */
import { BROWSER } from '../../engine/backends/browser.js';
import type { RolloutGroups } from '../../rollouts/groups/group-recorder.js';
import type { RolloutOptions } from '../../rollouts/groups/group-start.js';
import { rolloutGroupsOn } from '../../rollouts/groups/rollout-groups.js';
import type { ReplayInput } from '../../rollouts/replay/check-rows.js';
import {
  type ReplayOptions,
  type ReplayScores,
  scoreReplayAsyncOn,
  scoreReplayOn,
} from '../../rollouts/replay/score-replay.js';
import { createTextEnvOn, type TextEnv, type TextEnvOptions } from '../../rollouts/text/text-env.js';

export * from '../common/rollouts.js';

/** Plays groups of rollouts like `rolloutGroups` in Node, on any backend that the browser supports. */
export function rolloutGroups(options: RolloutOptions): Promise<RolloutGroups> {
  return rolloutGroupsOn(BROWSER, options);
}

/** Scores completions like `scoreReplay` in Node, but on the reference. */
export function scoreReplay(rows: ReplayInput, options: ReplayOptions = {}): ReplayScores {
  return scoreReplayOn(BROWSER, rows, options);
}

/** Scores completions like `scoreReplayAsync` in Node, on any backend that the browser supports. */
export function scoreReplayAsync(rows: ReplayInput, options: ReplayOptions = {}): Promise<ReplayScores> {
  return scoreReplayAsyncOn(BROWSER, rows, options);
}

/** Opens an environment of texts like `createTextEnv` in Node. */
export function createTextEnv(options: TextEnvOptions = {}): TextEnv {
  return createTextEnvOn(BROWSER, options);
}
