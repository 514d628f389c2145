/** What is replayed: rows as arrays, a column each, and rows as objects, which become such arrays. */
import { InputError } from '../../errors.js';
import type { ProfileChoice } from '../../validate/persons.js';
import { describe } from '../../validate/values.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';

/** Row i: an episode of `seeds[i]` in which `stepIndices[i]` actions were taken, and what is proposed next. */
export interface ReplayColumns {
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Who the persons are: for all rows, or per row. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** u8 [n]: steps taken before, 0 to 27. */
  readonly stepIndices: Uint8Array;
  /** u8 [n, 28], row-major, as tapes: the codes of these steps; what follows them is ignored. */
  readonly histories: Uint8Array;
  /** i8 [n]: codes proposed, -1 where a completion has none. */
  readonly actions: Int8Array;
  /** f32 [n, 3]: the beliefs that come with them; a whole row of NaN, or nothing at all, where there is none. */
  readonly beliefs?: Float32Array;
}

/** The same of one row, as a dataset has it. */
export interface ReplayRow {
  /** u32. */
  readonly seed: number;
  /** 'sampled' (default), 'discrete' or a profile's name. */
  readonly profileMode?: string;
  /** Actions taken before, by code or by name, at most 27. */
  readonly actionHistory: readonly (number | string)[];
  /** By code or by name; null where a completion has none. */
  readonly action: number | string | null;
  /** Three numbers; null or left out where there is none. */
  readonly belief?: ArrayLike<number> | null;
}

/** What is wrong with a row. The others are scored as if it were not there. */
export interface RowFault {
  readonly index: number;
  readonly code: InputError['code'];
  readonly message: string;
}

/** Takes note of a fault: the row is left out. */
export type Blame = (index: number, fault: InputError) => void;

const CODES: ReadonlyMap<unknown, number> = new Map(
  ACTION_NAMES.flatMap((name, code): [unknown, number][] => [
    [name, code],
    [name.toUpperCase(), code],
    [code, code],
  ]),
);

/** @param blame told of rows that cannot be columns; they become rows of seed 0. */
export function toColumns(rows: readonly ReplayRow[], blame: Blame): ReplayColumns & { profiles: string[] } {
  const n = rows.length;
  const columns = {
    seeds: new Uint32Array(n),
    profiles: new Array<string>(n).fill('sampled'),
    stepIndices: new Uint8Array(n),
    histories: new Uint8Array(n * NUM_STEPS),
    actions: new Int8Array(n).fill(-1),
    beliefs: new Float32Array(n * NUM_BELIEFS).fill(Number.NaN),
  };
  for (let i = 0; i < n; i++) {
    try {
      putRow(columns, i, rows[i]);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      blame(i, error);
    }
  }
  return columns;
}

type Writable = { seeds: Uint32Array; profiles: string[] } & Required<ReplayColumns>;

function putRow(columns: Writable, i: number, row: ReplayRow): void {
  if (typeof row !== 'object' || row === null)
    throw wrong(i, 'an object', row, 'Pass { seed, actionHistory, action }.');
  const { seed, profileMode, actionHistory, action, belief } = row;
  if (!isU32(seed)) throw badSeed(`rows[${i}].seed`, seed);
  columns.seeds[i] = seed;
  if (profileMode !== undefined) {
    if (typeof profileMode !== 'string')
      throw wrong(`${i}].profileMode`, 'a name', profileMode, 'Pass a string.');
    columns.profiles[i] = profileMode;
  }
  putHistory(columns, i, actionHistory);
  if (action !== null) columns.actions[i] = codeOf(`rows[${i}].action`, action);
  if (belief !== undefined && belief !== null) putBelief(columns.beliefs, i, belief);
}

function putHistory(
  { histories, stepIndices }: Writable,
  i: number,
  history: ReplayRow['actionHistory'],
): void {
  if (!Array.isArray(history))
    throw wrong(`${i}].actionHistory`, 'an array', history, 'Pass codes or names.');
  if (history.length >= NUM_STEPS) {
    throw new InputError(
      'wrong_length',
      `Expected at most ${NUM_STEPS - 1} actions at rows[${i}].actionHistory, got ${history.length}. ` +
        'Pass those taken before the action.',
    );
  }
  for (let t = 0; t < history.length; t++) {
    const code = CODES.get(history[t]);
    histories[i * NUM_STEPS + t] = code ?? codeOf(`rows[${i}].actionHistory[${t}]`, history[t]);
  }
  stepIndices[i] = history.length;
}

function putBelief(beliefs: Float32Array, i: number, belief: ArrayLike<number>): void {
  if (typeof belief !== 'object' || belief.length !== NUM_BELIEFS) {
    throw wrong(`${i}].belief`, `${NUM_BELIEFS} numbers`, belief, 'Pass three, or null for none.');
  }
  for (let k = 0; k < NUM_BELIEFS; k++) {
    if (typeof belief[k] !== 'number' || !Number.isFinite(belief[k])) {
      throw badBelief(`rows[${i}].belief[${k}]`, belief[k]);
    }
    beliefs[i * NUM_BELIEFS + k] = belief[k];
  }
}

const isU32 = (value: unknown): boolean => (value as number) >>> 0 === value;

const wrong = (row: number | string, wanted: string, got: unknown, remedy: string): InputError =>
  new InputError(
    'wrong_type',
    `Expected ${wanted} at rows[${typeof row === 'number' ? `${row}]` : row}, got ${describe(got)}. ${remedy}`,
  );

const badSeed = (where: string, got: unknown): InputError =>
  new InputError(
    'bad_seed',
    `Expected an integer from 0 to ${2 ** 32 - 1} at ${where}, got ${describe(got)}. Pass one.`,
  );

export const badBelief = (where: string, got: unknown): InputError =>
  new InputError(
    'bad_belief',
    `Expected a finite number at ${where}, got ${describe(got)}. Leave the belief out where there is none.`,
  );

export const badAction = (where: string, got: unknown): InputError =>
  new InputError(
    'illegal_action',
    `Expected an action at ${where}, a code from 0 to ${NUM_ACTIONS - 1} or a name among ${ACTION_NAMES.join(', ')}, ` +
      `got ${describe(got)}.`,
  );

function codeOf(where: string, action: unknown): number {
  const code = CODES.get(action);
  if (code === undefined) throw badAction(where, action);
  return code;
}
