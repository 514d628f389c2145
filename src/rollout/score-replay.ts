/** Replay scoring: what each of many completions is worth, after the actions that came before it. */
import type { Batch } from '../backends/backend.js';
import { openBatch } from '../backends/open.js';
import type { Platform } from '../backends/platform.js';
import { NO_ACTION } from '../validate/actions.js';
import { checkInteger, checkName, isList, readOptions, wrongType } from '../validate/values.js';
import { MAX_THREADS } from '../world/fields.js';
import { resolveGrader } from '../world/resolve.js';
import type { WorldSpec } from '../world/spec.js';
import { createWorld, type World } from '../world/world.js';
import { checkRows, lookFine, takeRows } from './replay/check.js';
import type { ReplayColumns } from './replay/columns.js';
import { Faults, type RowFault } from './replay/faults.js';
import type { ReplayRow } from './replay/objects.js';
import { orderByLength } from './replay/order.js';
import type { Replayed, Taken } from './replay/rows.js';
import {
  REWARD_NAMES,
  type RewardStack,
  type RewardStackOptions,
  type StackTerms,
  stackRewards,
  toTerms,
} from './rewards/stack.js';

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

/** Rows that are looked at, ordered and played together: they stay in a cache. */
const WINDOW = 4096;

/** `scoreReplay` by what a platform can compute with. */
export function scoreReplayOn(
  platform: Platform,
  rows: ReplayColumns | readonly ReplayRow[],
  options: ReplayOptions,
): ReplayScores {
  const asked = readOptions('replay options', options, OPTIONS);
  // All that is wrong with options is said before rows are looked at.
  const { onFault = 'mark', grader = 'v2' } = asked;
  const world = createWorld(asked.world);
  const faults = new Faults(checkName('onFault', onFault, ON_FAULT) === 'throw');
  const terms = toTerms(asked);
  const weights = toGrader(world, grader);
  const batch = open(platform, world, asked);
  try {
    const taken = takeRows(world, rows, faults.blame);
    const replayed = replay(batch, weights, taken, faults);
    return { ...replayed, rewards: stackOf(taken, replayed, faults, terms), faults: faults.inOrder() };
  } finally {
    batch.close();
  }
}

/** A batch of one slot, which stays empty: rows are episodes of their own. */
function open(platform: Platform, world: World, { backend, kernel, threads }: ReplayOptions): Batch {
  const shape = {
    ...{ numEnvs: 1, world, imagination: false },
    threads: threads === undefined ? null : checkInteger('threads', threads, 1, MAX_THREADS),
    layout: { columnMajor: false, finalObservations: false },
  };
  return openBatch(platform, { backend, kernel }, shape).batch;
}

function replay(batch: Batch, grader: Float32Array, taken: Taken, faults: Faults): Replayed {
  const { columns, people, given } = taken;
  const rows = columns.seeds.length;
  const out = {
    stepRewards: new Float32Array(rows).fill(Number.NaN),
    beliefMae: new Float32Array(rows).fill(Number.NaN),
    stateHashes: new BigUint64Array(rows),
  };
  const { seeds, stepIndices: stops, histories, actions, beliefs } = columns;
  const request = {
    ...{ seeds, modes: people.modes, profiles: people.floats, grader },
    ...{ stops, histories, actions },
    ...(beliefs === undefined ? { beliefs: null, given: null } : { beliefs, given }),
    ...{ rewards: out.stepRewards, beliefMae: out.beliefMae, hashes: out.stateHashes },
  };
  const play = (order: Uint32Array): boolean => batch.replay({ ...request, order }) === null;
  for (let first = 0; first < rows; first += WINDOW) {
    replayWindow(play, taken, first, Math.min(first + WINDOW, rows), faults);
  }
  return out;
}

/**
 * Rows are checked one by one only where a quick look at all of them, or whoever plays them, finds a fault.
 * @param play returns false, and writes nothing, for a history that is none.
 */
function replayWindow(
  play: (order: Uint32Array) => boolean,
  taken: Taken,
  first: number,
  end: number,
  faults: Faults,
): void {
  const order = (): Uint32Array => orderByLength(taken.columns.stepIndices, first, end, faults);
  if (lookFine(taken, first, end) && play(order())) return;
  checkRows(taken, first, end, faults.blame);
  play(order());
}

/** The rewards; missing where a row has a fault. */
function stackOf(
  { columns, given }: Taken,
  { stepRewards, beliefMae }: Replayed,
  faults: Faults,
  terms: StackTerms,
): RewardStack {
  const { histories, stepIndices } = columns;
  const actions = withoutFaults(columns.actions, faults);
  const pasts = { codes: histories, steps: (row: number) => stepIndices[row] };
  const rewards = stackRewards({ actions, given, stepRewards, beliefMae }, pasts, terms);
  for (const name of [...REWARD_NAMES, 'total'] as const) {
    for (const row of faults.rows) rewards[name][row] = Number.NaN;
  }
  return rewards;
}

/** Actions among which rows with faults have none: nobody looks at such a row's history. */
function withoutFaults(actions: Int8Array, faults: Faults): Int8Array {
  if (faults.size === 0) return actions;
  const others = actions.slice();
  for (const row of faults.rows) others[row] = NO_ACTION;
  return others;
}

/** f32 [6]. @throws InputError `wrong_type`, `unknown_name` or `bad_grader`. */
function toGrader(world: World, grader: unknown): Float32Array {
  if (typeof grader === 'string' || isList(grader)) return resolveGrader(world, grader);
  throw wrongType('grader', 'a name or six weights', grader, 'Pass one of these.');
}
