/** Validates rows that are passed as objects, and converts them to columns. */

import { isSeed, refuseSeed } from '../../engine/validate/seeds.js';
import { illegalAction, NO_ACTION } from '../../engine/validate/steps.js';
import { InputError, Place, type Where } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkInteger, describe, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, MAX_ENVS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { parseText } from '../text/parse-completions.js';
import type { ReplayColumns } from './row-columns.js';
import { catchFault, OWN_ROWS, type ReportFault, type RowNaming } from './row-faults.js';

/** A state of a replay. Datasets for GRPO have its first three fields as columns, in snake_case. */
interface ReplayState {
  /** u32. */
  readonly seed: number;
  /** 'sampled' (default), 'discrete' or a profile's name. */
  readonly profileMode?: string;
  /** Actions taken before, by code or name, at most 27. */
  readonly actionHistory: readonly (number | string)[];
  /**
   * The belief given with each action of the history, null for no belief. The list has one entry for each of these actions, or
   * 28 entries; those after the last action are ignored. Null or left out: no belief was given (see `beliefHistories` of
   * ReplayColumns).
   */
  readonly beliefHistory?: readonly (ArrayLike<number> | null)[] | null;
}

/** One row of a replay: a state, and the action and belief that a completion states. */
export interface ReplayRow extends ReplayState {
  /** The action's code or name; null for a completion without an action. */
  readonly action: number | string | null;
  /** Three numbers; null or left out for no belief. */
  readonly belief?: ArrayLike<number> | null;
}

/** One row of a replay with a completion. `parseCompletion` parses it. */
export interface CompletionRow extends ReplayState {
  /** The completion's text, without its role. */
  readonly completion: string;
}

/** The columns of rows that are written one by one. */
export type WrittenColumns = Required<Omit<ReplayColumns, 'beliefHistories' | 'profiles'>> & {
  readonly profiles: string[];
  /** Allocated for the first row with a history of beliefs. */
  beliefHistories?: Float32Array;
};

const ROW_KEYS = ['seed', 'profileMode', 'actionHistory', 'action', 'belief', 'beliefHistory', 'completion'];
const ROW_KEY_SET: ReadonlySet<string> = new Set(ROW_KEYS);

/** Action codes by code, by name, and by upper-case name, as in completions. */
const CODES: ReadonlyMap<unknown, number> = new Map(
  ACTION_NAMES.flatMap((name, code): [unknown, number][] => [
    [code, code],
    [name, code],
    [name.toUpperCase(), code],
  ]),
);

/**
 * Converts rows to columns.
 * @param inThought whether completions begin inside a thought.
 * @param reportFault called for every invalid row. The columns hold valid values for such a row too.
 * @param naming names the places of rows in errors.
 * @throws InputError `out_of_range` for more rows than a batch may have, before memory is allocated.
 */
export function toColumns(
  rows: readonly (ReplayRow | CompletionRow)[],
  reportFault: ReportFault,
  naming: RowNaming = OWN_ROWS,
  inThought = false,
): WrittenColumns {
  const n = checkInteger('the number of rows', rows.length, 0, MAX_ENVS);
  const columns = allocateColumns(n);
  for (let i = 0; i < n; i++)
    catchFault(i, reportFault, () => writeRow(columns, i, rows[i], naming, inThought));
  return columns;
}

/** Returns columns of `n` rows without actions and beliefs. */
export const allocateColumns = (n: number): WrittenColumns => ({
  seeds: new Uint32Array(n),
  profiles: new Array<string>(n).fill('sampled'),
  stepIndices: new Uint8Array(n),
  histories: new Uint8Array(n * NUM_STEPS),
  actions: new Int8Array(n).fill(NO_ACTION),
  beliefs: newBeliefs(n),
});

/** Writes a field of row `i`. @throws InputError for an invalid value. */
type WriteField = (columns: WrittenColumns, i: number, value: unknown, naming: RowNaming) => void;

/** Writes the fields of rows. A history of actions comes before its history of beliefs. */
export const WRITE_FIELD = {
  seed: (columns, i, seed, naming) => {
    const valid = isSeed(seed as number) ? (seed as number) : refuseSeed(seed, naming.inObject(i, 'seed'));
    columns.seeds[i] = valid;
  },
  profileMode: (columns, i, mode, naming) => {
    if (typeof mode === 'string') columns.profiles[i] = mode;
    else throw wrongType(naming.inObject(i, 'profileMode'), 'a name', mode, 'Pass a string.');
  },
  actionHistory: writeHistory,
  action: (columns, i, action, naming) => {
    if (action === null) return;
    columns.actions[i] =
      CODES.get(action) ??
      refuseAction(action, naming.inObject(i, 'action'), ', its name, or null for none,');
  },
  belief: (columns, i, belief, naming) => {
    if (belief === null) return;
    writeBelief(columns.beliefs, i, belief, () => naming.inObject(i, 'belief'));
  },
  beliefHistory: writeBeliefHistory,
} as const satisfies Readonly<Record<string, WriteField>>;

function writeRow(
  columns: WrittenColumns,
  i: number,
  row: ReplayRow | CompletionRow,
  naming: RowNaming,
  inThought: boolean,
): void {
  if (typeof row !== 'object' || row === null) {
    throw wrongType(
      new Place(undefined, i, `rows[${i}]`),
      'an object',
      row,
      'Pass { seed, actionHistory, action }.',
    );
  }
  for (const key in row) if (!ROW_KEY_SET.has(key)) refuseKey(i, key);
  const { seed, profileMode, actionHistory, beliefHistory } = row;
  const { action, belief } = answerOf(row, i, inThought);
  WRITE_FIELD.seed(columns, i, seed, naming);
  if (profileMode !== undefined) WRITE_FIELD.profileMode(columns, i, profileMode, naming);
  WRITE_FIELD.actionHistory(columns, i, actionHistory, naming);
  WRITE_FIELD.action(columns, i, action, naming);
  if (belief !== undefined) WRITE_FIELD.belief(columns, i, belief, naming);
  if (beliefHistory !== undefined) WRITE_FIELD.beliefHistory(columns, i, beliefHistory, naming);
}

type Answer = Partial<Pick<ReplayRow, 'action' | 'belief'> & Pick<CompletionRow, 'completion'>>;

/** Returns the action and belief of a row, parsed from its completion if it has one. */
function answerOf(
  { completion, action, belief }: Answer,
  i: number,
  inThought: boolean,
): Pick<ReplayRow, 'action' | 'belief'> {
  // `writeRow` refuses a missing action like any other invalid action.
  if (completion === undefined) return { action: action as ReplayRow['action'], belief };
  if (action !== undefined || belief !== undefined) {
    throw new InputError('unknown_option', {
      expected: `rows[${i}] to have either a completion or an action and a belief`,
      got: 'both',
      remedy: 'Leave out the completion, or the action and the belief.',
      at: { field: 'completion', row: i },
    });
  }
  if (typeof completion !== 'string') {
    throw wrongType(
      OWN_ROWS.inObject(i, 'completion'),
      'a string',
      completion,
      "Pass the completion's text alone, without its role.",
    );
  }
  const parsed = parseText(completion, inThought);
  return { action: parsed.action, belief: parsed.given ? parsed.belief : null };
}

function writeHistory(
  { histories, stepIndices }: WrittenColumns,
  i: number,
  history: unknown,
  naming: RowNaming,
): void {
  if (!Array.isArray(history)) {
    throw wrongType(
      naming.inObject(i, 'actionHistory'),
      'an array',
      history,
      'Pass codes or names of actions.',
    );
  }
  const { length } = history;
  if (length >= NUM_STEPS) {
    const at = naming.inObject(i, 'actionHistory');
    throw new InputError('wrong_length', {
      expected: `at most ${NUM_STEPS - 1} actions in ${at}`,
      got: `${length}`,
      remedy: 'Pass only the actions before the scored one.',
      at,
    });
  }
  for (let t = 0; t < length; t++) {
    const action = history[t];
    histories[i * NUM_STEPS + t] =
      CODES.get(action) ??
      refuseAction(action, naming.inObject(i, 'actionHistory').plus(`[${t}]`), ' or its name');
  }
  stepIndices[i] = length;
}

function writeBeliefHistory(columns: WrittenColumns, i: number, history: unknown, naming: RowNaming): void {
  if (history === null) return;
  const where = () => naming.inObject(i, 'beliefHistory');
  if (!Array.isArray(history))
    throw wrongType(where(), 'an array', history, 'Pass a belief or null per action.');
  const steps = columns.stepIndices[i];
  if (history.length !== steps && history.length !== NUM_STEPS) {
    throw new InputError('wrong_length', {
      expected: `${steps} beliefs in ${where()} (one for each action of the history) or ${NUM_STEPS}`,
      got: `${history.length}`,
      remedy: 'Pass null for an action without a belief.',
      at: where(),
    });
  }
  columns.beliefHistories ??= newBeliefs(columns.seeds.length * NUM_STEPS);
  for (let t = 0; t < steps; t++) {
    const belief: unknown = history[t];
    if (belief === null) continue;
    writeBelief(columns.beliefHistories, i * NUM_STEPS + t, belief, () => where().plus(`[${t}]`));
  }
}

/** Returns the code of an action that is given by code or name. @param where called for an error. @throws InputError. */
export const actionCode = (action: unknown, where: () => Where): number =>
  CODES.get(action) ?? refuseAction(action, where(), ' or its name');

/** Returns f32 [numRows, 3] without beliefs. */
const newBeliefs = (numRows: number): Float32Array =>
  new Float32Array(numRows * NUM_BELIEFS).fill(Number.NaN);

/** Writes a belief to row `at` of f32 [n, 3]. @param where called for an error. @throws InputError. */
export function writeBelief(beliefs: Float32Array, at: number, belief: unknown, where: () => Place): void {
  const list = belief as ArrayLike<unknown> | null;
  if (typeof list !== 'object' || list?.length !== NUM_BELIEFS) {
    throw wrongType(
      where(),
      `${NUM_BELIEFS} numbers`,
      belief,
      `Pass ${NUM_BELIEFS} numbers, or null for no belief.`,
    );
  }
  for (let k = 0; k < NUM_BELIEFS; k++) {
    const number = list[k];
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number)))
      refuseBelief(number, where().plus(`[${k}]`));
    else beliefs[at * NUM_BELIEFS + k] = number;
  }
}

function refuseKey(i: number, key: string): never {
  throw new InputError('unknown_option', {
    expected: `rows[${i}] to have no keys but ${ROW_KEYS.join(', ')}`,
    got: describe(key),
    remedy: didYouMean(key, ROW_KEYS, ' Leave it out.'),
    at: { field: key, row: i },
  });
}

function refuseAction(action: unknown, where: Where, or: string): never {
  const remedy =
    typeof action === 'string'
      ? didYouMean(action, ACTION_NAMES).trim()
      : `Pass a code from 0 to ${ACTION_NAMES.length - 1}, or a name.`;
  throw illegalAction(where, action, { or, remedy });
}

function refuseBelief(value: unknown, where: Where): never {
  throw new InputError('bad_belief', {
    expected: `a finite number at ${where}`,
    got: describe(value),
    remedy: 'Pass null for no belief.',
    at: where,
  });
}
