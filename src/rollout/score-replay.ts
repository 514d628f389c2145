/** Replay scoring: what each of many completions is worth, after the actions that came before it. */
import { openBatch } from '../backends/open.js';
import type { Platform } from '../backends/platform.js';
import { NO_ACTION } from '../validate/actions.js';
import { checkInteger, checkName, isList, readOptions, wrongType } from '../validate/values.js';
import { MAX_THREADS } from '../world/fields.js';
import { resolveGrader } from '../world/resolve.js';
import type { WorldSpec } from '../world/spec.js';
import { createWorld, type World } from '../world/world.js';
import { checkRows, takeRows } from './replay/check.js';
import type { ReplayColumns } from './replay/columns.js';
import { ReplayEngine } from './replay/engine.js';
import { Faults, type RowFault } from './replay/faults.js';
import type { ReplayRow } from './replay/objects.js';
import { orderByLength } from './replay/order.js';
import type { Replayed, Taken } from './replay/rows.js';
import { REWARD_NAMES, type RewardStack, type RewardStackOptions, rewardStack } from './reward-stack.js';

export interface ReplayOptions extends RewardStackOptions {
  /** How an episode that ends with the step is graded: 'v1', 'v2' (default), or six weights. */
  grader?: string | ArrayLike<number>;
  /** A world with other numbers. Default: the published one. */
  world?: WorldSpec;
  /** As of `createVecEnv`. */
  backend?: string;
  kernel?: string;
  /** 1 to 256; changes no result. Default: as many as the machine offers. */
  threads?: number;
  /** What a row with a fault does: 'mark' (default) leaves it out and lists it, 'throw' throws its error. */
  onFault?: (typeof ON_FAULT)[number];
}

/** Of every row. Of one with a fault all numbers are NaN, and its hash is 0. New arrays. */
export interface ReplayScores {
  /** f32 [n]: what the agent is given for the step; NaN where there is no action. */
  readonly stepRewards: Float32Array;
  /** f32 [n] in [0, 1]: the error of the belief, or of 0.5 each where none is given. */
  readonly beliefMae: Float32Array;
  /** u64 [n]: of the state in which the action is taken. */
  readonly stateHashes: BigUint64Array;
  /** The four rewards of the stack, each on its own, and their weighted sum. */
  readonly rewards: RewardStack;
  /** The rows that could not be replayed, in their order. */
  readonly faults: readonly RowFault[];
}

const ON_FAULT = ['mark', 'throw'] as const;
const OPTIONS: readonly (keyof ReplayOptions)[] = [
  'grader',
  'world',
  'backend',
  'kernel',
  'threads',
  'onFault',
  'weights',
  'shaping',
];

/** Rows that are ordered by length together, and slots of the batch that plays them: both stay in a cache. */
const WINDOW = 4096;
const LEAST_SLOTS = 16;

/** `scoreReplay` by what a platform can compute with. */
export function scoreReplayOn(
  platform: Platform,
  rows: ReplayColumns | readonly ReplayRow[],
  options: ReplayOptions,
): ReplayScores {
  const asked = readOptions('replay options', options, OPTIONS);
  const { weights, shaping, onFault = 'mark' } = asked;
  const world = createWorld(asked.world);
  const faults = new Faults(checkName('onFault', onFault, ON_FAULT) === 'throw');
  const taken = takeRows(world, rows, faults.blame);
  const replayed = replay(platform, world, taken, faults, asked);
  const rewards = stackOf(taken, replayed, faults, { weights, shaping });
  return { ...replayed, rewards, faults: faults.inOrder() };
}

function replay(
  platform: Platform,
  world: World,
  taken: Taken,
  faults: Faults,
  options: ReplayOptions,
): Replayed {
  const { stepIndices } = taken.columns;
  const rows = stepIndices.length;
  const out = {
    stepRewards: new Float32Array(rows).fill(Number.NaN),
    beliefMae: new Float32Array(rows).fill(Number.NaN),
    stateHashes: new BigUint64Array(rows),
  };
  const engine = openEngine(platform, world, rows, options);
  try {
    for (let first = 0; first < rows; first += WINDOW) {
      const end = Math.min(first + WINDOW, rows);
      checkRows(taken, first, end, faults.blame);
      engine.replay(taken, orderByLength(stepIndices, first, end, faults), out);
    }
    return out;
  } finally {
    engine.close();
  }
}

function openEngine(
  platform: Platform,
  world: World,
  rows: number,
  { backend, kernel, threads, grader = 'v2' }: ReplayOptions,
): ReplayEngine {
  const weights = toGrader(world, grader);
  const shape = {
    numEnvs: Math.max(LEAST_SLOTS, Math.min(rows, WINDOW)),
    ...{ world, imagination: false },
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    layout: { columnMajor: false, finalObservations: false },
  };
  return new ReplayEngine(world, () => openBatch(platform, { backend, kernel }, shape), weights);
}

/** The rewards; missing where a row has a fault. */
function stackOf(
  { columns, given }: Taken,
  { stepRewards, beliefMae }: Replayed,
  faults: Faults,
  options: RewardStackOptions,
): RewardStack {
  const { histories, stepIndices, actions } = withoutFaults(columns, faults);
  const rows = { actions, given, stepRewards, beliefMae, histories, stepIndices };
  const rewards = rewardStack(rows, options);
  for (const name of [...REWARD_NAMES, 'total'] as const) {
    for (const row of faults.rows) rewards[name][row] = Number.NaN;
  }
  return rewards;
}

/** Columns in which rows with faults have done nothing, so that what reads them finds no fault. */
function withoutFaults(columns: ReplayColumns, faults: Faults): ReplayColumns {
  if (faults.size === 0) return columns;
  const [actions, stepIndices] = [columns.actions.slice(), columns.stepIndices.slice()];
  for (const row of faults.rows) {
    actions[row] = NO_ACTION;
    stepIndices[row] = 0;
  }
  return { ...columns, actions, stepIndices };
}

/** f32 [6]. @throws InputError `wrong_type`, `unknown_name` or `bad_grader`. */
function toGrader(world: World, grader: unknown): Float32Array {
  if (typeof grader === 'string' || isList(grader)) return resolveGrader(world, grader);
  throw wrongType('grader', 'a name or six weights', grader, 'Pass one of these.');
}
