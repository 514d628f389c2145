/** `scoreReplay` and `scoreReplayAsync` on the backends of a platform. */

import type { Batch } from '../../engine/backends/backend.js';
import { type OpenBatch, openBatch, openSyncBatch, type Platform } from '../../engine/backends/open-batch.js';
import { type EngineCalls, resultOf, runAsync, runSync } from '../../engine/engine-calls.js';
import { checkInteger } from '../../shared/values.js';
import { MAX_THREADS } from '../../world/fields.js';
import { createWorld, type World } from '../../world/world.js';
import type { ReplayInput } from './check-rows.js';
import { type ReplayOptions, type ReplayScores, replayRows, toReplaySettings } from './replay.js';

type EngineChoice = Pick<ReplayOptions, 'backend' | 'kernel' | 'threads'>;

/** Computes `scoreReplay` on the backends of a platform. */
export const scoreReplayOn = (platform: Platform, rows: ReplayInput, options: ReplayOptions): ReplayScores =>
  runSync(score(platform, rows, options, openSyncBatch));

/** Computes `scoreReplayAsync` on the backends of a platform. */
export const scoreReplayAsyncOn = async (
  platform: Platform,
  rows: ReplayInput,
  options: ReplayOptions,
): Promise<ReplayScores> => runAsync(score(platform, rows, options, openBatch));

/**
 * Opens a batch of the published world for replays, on a synchronous backend. Close it at the end.
 * @throws as `createVecEnv`.
 */
export const openReplayBatchOn = (platform: Platform, choice: EngineChoice): Batch =>
  runSync(openReplayBatch(platform, createWorld(), choice, openSyncBatch));

/** Scores rows. @param open opens a batch on a synchronous backend, or on any backend. */
function* score(
  platform: Platform,
  rows: ReplayInput,
  options: ReplayOptions,
  open: OpenBatch,
): EngineCalls<ReplayScores> {
  // Options are validated before rows are read.
  const settings = toReplaySettings(options);
  const batch = yield* openReplayBatch(platform, settings.world, options, open);
  try {
    return yield* replayRows(batch, rows, settings);
  } finally {
    batch.close();
  }
}

/** Opens a batch for its method `replay`, which does not use the batch's one environment. */
function* openReplayBatch(
  platform: Platform,
  world: World,
  { backend, kernel, threads }: EngineChoice,
  open: OpenBatch,
): EngineCalls<Batch> {
  const shape = {
    ...{ numEnvs: 1, world, imagination: false },
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    layout: { columnMajor: false, finalObservations: false },
  };
  return (yield* resultOf(open(platform, { backend, kernel }, shape))).batch;
}
