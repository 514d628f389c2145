/** Plays groups of rollouts step by step. All rollouts of a group begin in the same state. */
import type { Platform } from '../../engine/backends/platform.js';
import { runAsync } from '../../engine/engine-calls.js';
import { checkLongCall } from '../../engine/vec-env/runs.js';
import { yieldTurn } from '../../engine/vec-env/yield-turn.js';
import { readOptions } from '../../shared/values.js';
import { toDiscount } from '../advantages/returns.js';
import { ActiveRollouts } from './active-rollouts.js';
import { OPTIONS, type RolloutOptions } from './group-options.js';
import { GroupRecorder, type RolloutGroups } from './group-recorder.js';
import { type GroupStart, startGroups } from './group-start.js';
import { type GroupStep, toGroupStep } from './group-step.js';

/** Runs `rolloutGroups` on the backends of a platform. */
export async function rolloutGroupsOn(platform: Platform, options: RolloutOptions): Promise<RolloutGroups> {
  const checked = readOptions('rollout options', options, OPTIONS);
  checkLongCall(checked);
  const gamma = toDiscount('gamma', checked.gamma);
  const step = toGroupStep(checked);
  checked.signal?.throwIfAborted();
  const start = await runAsync(startGroups(platform, checked));
  try {
    return await play(start, step, gamma, checked);
  } finally {
    await start.env.close();
  }
}

/** Plays all rollouts to the end of their episodes and records them. */
async function play(
  start: GroupStart,
  step: GroupStep,
  gamma: number,
  { onProgress, signal }: RolloutOptions,
): Promise<RolloutGroups> {
  // Lets signals and timers run, also between the parts of a step, which take long with many rollouts.
  const pause = async (): Promise<void> => {
    await yieldTurn();
    signal?.throwIfAborted();
  };
  const active = new ActiveRollouts(start);
  await pause();
  const recorder = new GroupRecorder(active);
  while (active.stepsLeft > 0) {
    await pause();
    await recorder.recordBefore();
    await pause();
    recorder.recordAfter(await step(active));
    active.advance();
    onProgress?.(active.totalSteps - active.stepsLeft, active.totalSteps);
  }
  await pause();
  return recorder.finish(gamma);
}
