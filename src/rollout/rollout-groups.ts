/** Rollouts in groups: how differently the same weeks go, step by step, for advantages within each group. */
import type { Platform } from '../backends/platform.js';
import { readOptions } from '../validate/values.js';
import { checkLongCall } from '../vec-env/slices.js';
import { othersTurn } from '../vec-env/turns.js';
import { OPTIONS, type RolloutOptions } from './groups/options.js';
import { Playing } from './groups/playing.js';
import { Recording, type RolloutGroups } from './groups/recording.js';
import { type Started, start } from './groups/start.js';
import { type Turn, toTurn } from './groups/turn.js';
import { toDiscount } from './returns.js';

/** `rolloutGroups` by what a platform can compute with. */
export async function rolloutGroupsOn(platform: Platform, options: RolloutOptions): Promise<RolloutGroups> {
  const asked = readOptions('rollout options', options, OPTIONS);
  checkLongCall(asked);
  const gamma = toDiscount('gamma', asked.gamma);
  const turn = toTurn(asked);
  asked.signal?.throwIfAborted();
  const started = start(platform, asked);
  try {
    return await play(started, turn, gamma, asked);
  } finally {
    started.env.close();
  }
}

async function play(
  started: Started,
  turn: Turn,
  gamma: number,
  { onProgress, signal }: RolloutOptions,
): Promise<RolloutGroups> {
  const playing = new Playing(started);
  const recording = new Recording(playing);
  while (playing.left > 0) {
    recording.see();
    recording.act(await turn(playing));
    playing.advance();
    onProgress?.(playing.total - playing.left, playing.total);
    // Lets signals and timers in.
    await othersTurn();
    signal?.throwIfAborted();
  }
  return recording.finish(gamma);
}
