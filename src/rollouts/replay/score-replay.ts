/** Replays rows on a batch: replays each row's history, takes its action and computes its rewards. Opens the batch on a platform. */
import type { Batch } from '../../engine/backends/backend.js';
import { type OpenBatch, openBatch, openSyncBatch, type Platform } from '../../engine/backends/open-batch.js';
import { type EngineCalls, resultOf, runAsync, runSync } from '../../engine/engine-calls.js';
import { type GraderLike, weightsIn } from '../../engine/graders/grader.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import { checkInteger, checkName, readOptions } from '../../shared/values.js';
import { MAX_THREADS } from '../../world/fields.js';
import type { WorldSpec } from '../../world/numbers.js';
import { createWorld, type World } from '../../world/world.js';
import {
  allocateStack,
  fillStack,
  type RewardStack,
  type RewardStackOptions,
  type StackSettings,
  toStackSettings,
} from '../rewards/compute-rewards.js';
import { beginsInThought, type ParseOptions } from '../text/parse-completions.js';
import {
  checkRows,
  passesQuickCheck,
  type ReplayInput,
  type ReplayRows,
  validateRows,
} from './check-rows.js';
import { Faults, OWN_ROWS, type RowFault } from './row-faults.js';

/** Options of `scoreReplay`. */
export interface ReplayOptions extends RewardStackOptions, EngineOptions {
  /**
   * 'v2' (default), another name of GRADER_NAMES, a Grader, or eight weights. Grades an episode
   * if the row's action is its 28th, and sets the default weight of `beliefSkill` (see `weights`).
   */
  grader?: GraderLike;
  /** As in `parseCompletions`, for rows with completions. */
  thought?: ParseOptions['thought'];
  /** A world with other numbers. Default: the published one. */
  world?: WorldSpec;
  /** 'mark' (default) gives invalid rows NaN and lists them in `faults`; 'throw' throws the first error found. */
  onFault?: (typeof ON_FAULT)[number];
}

/** New arrays with an entry per row. For an invalid row all numbers are NaN and the hash is 0. */
export interface ReplayScores {
  /** f32 [n]: the reward of the step; NaN for rows without an action. */
  readonly stepRewards: Float32Array;
  /** f32 [n] in [0, 1]: the mean absolute error of the belief, or of [0.5, 0.5, 0.5] if no belief is given. */
  readonly beliefMae: Float32Array;
  /**
   * f32 [n] in [-1, 1]: 1 minus `beliefSkillScale` times the belief's mean squared error, clamped; -1 if no belief is given.
   * Computed at every step, also at those that belief_skill leaves out.
   */
  readonly beliefSkill: Float32Array;
  /** u64 [n]: the hash of the state before the action. */
  readonly stateHashes: BigUint64Array;
  /** The five rewards of the stack and their weighted sum. */
  readonly rewards: RewardStack;
  /** The invalid rows, by index. */
  readonly faults: readonly RowFault[];
}

const ON_FAULT = ['mark', 'throw'] as const;
const OPTIONS: readonly (keyof ReplayOptions)[] = [
  'grader',
  'thought',
  'world',
  'backend',
  'kernel',
  'threads',
  'onFault',
  'weights',
  'shaping',
];

/** The results of every row. */
type ReplayResults = Omit<ReplayScores, 'faults'>;

/** The validated options of a replay. */
interface ReplaySettings {
  readonly world: World;
  /** The weights of the grader, f32 [8]. */
  readonly grader: Float32Array;
  readonly stack: StackSettings;
  /** Whether completions begin inside a thought. */
  readonly inThought: boolean;
  /** Whether the first invalid row throws its error. */
  readonly throws: boolean;
}

/** Validates all options but those of the batch. @throws InputError. */
export function toReplaySettings(options: ReplayOptions): ReplaySettings {
  const checked = readOptions('replay options', options, OPTIONS);
  const { onFault = 'mark', grader: choice = 'v2', thought } = checked;
  const world = createWorld(checked.world);
  const throws = checkName('onFault', onFault, ON_FAULT) === 'throw';
  const grader = weightsIn(world, choice);
  const stack = toStackSettings(checked, grader);
  return { world, grader, stack, inThought: beginsInThought(thought), throws };
}

/**
 * The number of rows that are checked and replayed together. Chosen by hand, so that they stay in the processor's cache: a row
 * has about 100 bytes, without a belief history and a given profile.
 */
const WINDOW = 8192;

/**
 * Replays all rows on an open batch and computes their rewards, window by window.
 * @param batch of the settings' world. @param faults of rows that are invalid already, and hold any valid values.
 * @param naming names the places of rows in errors.
 * @throws InputError for a fault that concerns all rows, or with `throws` for the first fault.
 */
export function* replayRows(
  batch: Batch,
  rows: ReplayInput,
  { world, grader, stack, inThought, throws }: ReplaySettings,
  faults = new Faults(throws),
  naming = OWN_ROWS,
): EngineCalls<ReplayScores> {
  const replayRows = validateRows(world, rows, faults.reportFault, inThought, naming);
  const { columns, profiles, given, historyGiven } = replayRows;
  const { stepIndices: stops, seeds, histories, actions, beliefs, beliefHistories } = columns;
  const results = allocateResults(stops.length);
  const { stepRewards, stateHashes: hashes, beliefMae, beliefSkill } = results;
  const request = {
    ...{ seeds, modes: profiles.modes, profiles: profiles.floats, grader },
    ...{ stops, histories, actions },
    ...{ beliefHistories: beliefHistories ?? null, historyGiven },
    ...(beliefs === undefined ? { beliefs: null, given: null } : { beliefs, given }),
    ...{ rewards: stepRewards, hashes, beliefMae, beliefSkill },
  };
  const play = function* (order: Uint32Array): EngineCalls<boolean> {
    return (yield* resultOf(batch.replay({ ...request, order }))) === null;
  };
  const scored = { actions, given, stepRewards, beliefMae, beliefSkill };
  const pastActions = { codes: histories, steps: (row: number) => stops[row] };
  for (let first = 0; first < stops.length; first += WINDOW) {
    const end = Math.min(first + WINDOW, stops.length);
    yield* replayWindow(play, replayRows, first, end, faults);
    fillStack(results.rewards, scored, pastActions, stack, first, end);
  }
  markInvalid(results, faults);
  return { ...results, faults: faults.inOrder() };
}

const allocateResults = (numRows: number): ReplayResults => ({
  stepRewards: new Float32Array(numRows),
  beliefMae: new Float32Array(numRows),
  beliefSkill: new Float32Array(numRows),
  stateHashes: new BigUint64Array(numRows),
  rewards: allocateStack(numRows),
});

/**
 * Replays rows `first` to `end - 1`. Checks them one by one only if the quick check or the backend finds a fault.
 * @param play replays rows; returns false and writes nothing if a history is invalid.
 */
function* replayWindow(
  play: (order: Uint32Array) => EngineCalls<boolean>,
  replayRows: ReplayRows,
  first: number,
  end: number,
  faults: Faults,
): EngineCalls<void> {
  if (passesQuickCheck(replayRows, first, end) && (yield* play(validRows(first, end, faults)))) return;
  checkRows(replayRows, first, end, faults.reportFault);
  // This call returns true, because it leaves out the rows with invalid histories.
  yield* play(validRows(first, end, faults));
}

/** Returns the rows `first` to `end - 1` without those that have a fault, u32. */
function validRows(first: number, end: number, faults: Faults): Uint32Array {
  const rows = new Uint32Array(end - first);
  const allValid = faults.size === 0;
  let count = 0;
  for (let row = first; row < end; row++) if (allValid || !faults.has(row)) rows[count++] = row;
  return rows.subarray(0, count);
}

/** Overwrites all numbers of invalid rows with NaN. Their hashes are 0, because they are not replayed. */
function markInvalid({ rewards, stepRewards, beliefMae, beliefSkill }: ReplayResults, faults: Faults): void {
  const arrays = [stepRewards, beliefMae, beliefSkill, ...Object.values<Float32Array>({ ...rewards })];
  for (const row of faults.rowIndices) for (const array of arrays) array[row] = Number.NaN;
}

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
export const openReplayBatchOn = (platform: Platform, choice: EngineOptions): Batch =>
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

/**
 * The environments of a batch for replays, which does not use them: enough that the default kernel is the fastest, not the one
 * that steps one or two environments.
 */
const UNUSED_ENVS = 16;

/** Opens a batch for its method `replay`. */
function* openReplayBatch(
  platform: Platform,
  world: World,
  { backend, kernel, threads }: EngineOptions,
  open: OpenBatch,
): EngineCalls<Batch> {
  const shape = {
    ...{ numEnvs: UNUSED_ENVS, world, imagination: false },
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    layout: { columnMajor: false, finalObservations: false },
  };
  return (yield* resultOf(open(platform, { backend, kernel }, shape))).batch;
}
