/** Plays groups of rollouts from equal states, step by step, for advantages within each group. */
import type { Platform } from '../../engine/backends/platform.js';
import { checkLongCall } from '../../engine/vec-env/sliced-runs.js';
import { yieldTurn } from '../../engine/vec-env/yield-turn.js';
import { readOptions } from '../../shared/values.js';
import { toDiscount } from '../advantages/returns.js';
import { ActiveRollouts } from './active-rollouts.js';
import { OPTIONS, type RolloutOptions } from './group-options.js';
import { GroupRecorder, type RolloutGroups } from './group-recorder.js';
import { type GroupStart, start } from './group-start.js';
import { type GroupStep, toGroupStep } from './group-step.js';

/** `rolloutGroups` on the backends of a platform. */
export async function rolloutGroupsOn(platform: Platform, options: RolloutOptions): Promise<RolloutGroups> {
  const asked = readOptions('rollout options', options, OPTIONS);
  checkLongCall(asked);
  const gamma = toDiscount('gamma', asked.gamma);
  const turn = toGroupStep(asked);
  asked.signal?.throwIfAborted();
  const started = start(platform, asked);
  try {
    return await play(started, turn, gamma, asked);
  } finally {
    started.env.close();
  }
}

async function play(
  started: GroupStart,
  turn: GroupStep,
  gamma: number,
  { onProgress, signal }: RolloutOptions,
): Promise<RolloutGroups> {
  // Lets signals and timers in: also between the parts of a step, since each takes long for many rollouts.
  const pause = async (): Promise<void> => {
    await yieldTurn();
    signal?.throwIfAborted();
  };
  const playing = new ActiveRollouts(started);
  await pause();
  const recording = new GroupRecorder(playing);
  while (playing.left > 0) {
    await pause();
    recording.see();
    await pause();
    recording.act(await turn(playing));
    playing.advance();
    onProgress?.(playing.total - playing.left, playing.total);
  }
  await pause();
  return recording.finish(gamma);
}
