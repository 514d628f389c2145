/** Validates the rows of a replay. An invalid row does not affect the others. */

import { type EnvProfiles, toProfiles } from '../../engine/validate/profiles.js';
import { badBelief, illegalAction, isAbsent, isGiven, NO_ACTION } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { isList } from '../../shared/values.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type CompletionColumns, type ReplayColumns, validateColumns } from './row-columns.js';
import { OWN_ROWS, type ReportFault, type RowNaming } from './row-faults.js';
import { type CompletionRow, type ReplayRow, toColumns } from './row-objects.js';

/** Rows of a replay as a caller passes them. */
export type ReplayInput = ReplayColumns | CompletionColumns | readonly (ReplayRow | CompletionRow)[];

/** The rows of a replay in their original order. */
export interface ReplayRows {
  readonly columns: ReplayColumns;
  readonly profiles: EnvProfiles;
  readonly naming: RowNaming;
  /** u8 [n]: 1 where a belief is given. A row's entry is set when the row is checked. */
  readonly given: Uint8Array;
  /** u8 [n, 28]: 1 where a belief history gives a belief, set when the row is checked; null without belief histories. */
  readonly historyGiven: Uint8Array | null;
}

/**
 * Validates the columns and the profile of each row. `checkRows` validates the other values of each row.
 * @param rows columns, which are used in place, or objects.
 * @param reportFault called for every invalid row or profile. @param naming names the places of rows in errors.
 * @param inThought whether completions begin inside a thought.
 * @throws InputError for a fault that concerns all rows.
 */
export function validateRows(
  world: World,
  rows: ReplayInput,
  reportFault: ReportFault,
  inThought: boolean,
  naming = OWN_ROWS,
): ReplayRows {
  const isObjects = isList(rows);
  const placeOf = (i: number) =>
    isObjects ? naming.inObject(i, 'profileMode') : naming.inColumn(i, 'profiles');
  const columns = isObjects
    ? toColumns(rows as readonly ReplayRow[], reportFault, naming, inThought)
    : validateColumns(rows as ReplayColumns, inThought);
  const count = columns.seeds.length;
  const profiles = toProfiles(world, columns.profiles ?? 'sampled', count, { placeOf, reportFault });
  const historyGiven = columns.beliefHistories === undefined ? null : new Uint8Array(count * NUM_STEPS);
  return { columns, profiles, naming, given: new Uint8Array(count), historyGiven };
}

/**
 * Returns whether rows `first` to `end - 1` are valid. Does not check the action histories; the backend checks them
 * during the replay. Sets `given` and `historyGiven` for these rows.
 */
export function passesQuickCheck(rows: ReplayRows, first: number, end: number): boolean {
  const { stepIndices, actions, beliefs, beliefHistories } = rows.columns;
  let faults = 0;
  for (let i = first; i < end; i++) {
    if (stepIndices[i] >= NUM_STEPS || actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) faults++;
  }
  if (beliefs !== undefined) faults += markGiven(beliefs, rows.given, first, end);
  if (beliefHistories === undefined) return faults === 0;
  for (let i = first; i < end; i++) if (firstBadBelief(rows, i) >= 0) faults++;
  return faults === 0;
}

/** Sets `given` for rows `first` to `end - 1`. Returns how many rows have neither a belief nor three NaN. */
function markGiven(beliefs: Float32Array, given: Uint8Array, first: number, end: number): number {
  let faults = 0;
  for (let i = first; i < end; i++) {
    given[i] = isGiven(beliefs, i) ? 1 : 0;
    if (given[i] === 0 && !isAbsent(beliefs, i)) faults++;
  }
  return faults;
}

/**
 * Returns the index, in [n, 28], of the first entry of a row's belief history that is neither a belief nor three NaN; -1 if
 * all are valid. Sets `historyGiven` for the entries before it.
 */
function firstBadBelief({ columns, historyGiven }: ReplayRows, row: number): number {
  const { beliefHistories, stepIndices } = columns;
  if (beliefHistories === undefined || historyGiven === null) return -1;
  const begin = row * NUM_STEPS;
  const end = begin + Math.min(stepIndices[row], NUM_STEPS);
  for (let at = begin; at < end; at++) {
    historyGiven[at] = Number(isGiven(beliefHistories, at));
    if (historyGiven[at] === 0 && !isAbsent(beliefHistories, at)) return at;
  }
  return -1;
}

/**
 * Checks rows `first` to `end - 1` one by one, and sets `given` and `historyGiven` for them.
 * @param reportFault called for every fault. A row can have several.
 */
export function checkRows(rows: ReplayRows, first: number, end: number, reportFault: ReportFault): void {
  const { columns, given, naming } = rows;
  const { stepIndices, actions, beliefs } = columns;
  for (let i = first; i < end; i++) {
    const steps = stepIndices[i];
    if (steps >= NUM_STEPS) reportFault(i, badStep(naming, i, steps));
    else checkHistory(rows, i, reportFault);
    if (actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) reportFault(i, badAction(naming, actions, i));
    const at = firstBadBelief(rows, i);
    if (at >= 0) reportFault(i, badPastBelief(naming, columns.beliefHistories!, at));
    if (beliefs !== undefined) given[i] = checkBelief(naming, beliefs, i, reportFault);
  }
}

function checkHistory({ columns, naming }: ReplayRows, row: number, reportFault: ReportFault): void {
  const at = firstInvalid(columns, row);
  if (at >= 0) reportFault(row, badHistory(naming, row, at, columns.histories[at]));
}

/** Returns the index of the first invalid code in a row's history; -1 if all are valid. */
function firstInvalid({ histories, stepIndices }: ReplayColumns, row: number): number {
  const begin = row * NUM_STEPS;
  for (let at = begin; at < begin + stepIndices[row]; at++) if (histories[at] >= NUM_ACTIONS) return at;
  return -1;
}

/** Returns 1 if the row has a valid belief, else 0. Reports an invalid belief. */
function checkBelief(
  naming: RowNaming,
  beliefs: Float32Array,
  row: number,
  reportFault: ReportFault,
): number {
  if (isGiven(beliefs, row)) return 1;
  if (!isAbsent(beliefs, row)) {
    const { field, row: named } = naming.inColumn(row, 'beliefs');
    reportFault(row, badBelief(beliefs, row, field, named));
  }
  return 0;
}

function badStep(naming: RowNaming, row: number, steps: number): InputError {
  const at = naming.inColumn(row, 'stepIndices');
  return new InputError('out_of_range', {
    expected: `an integer from 0 to ${NUM_STEPS - 1} at ${at}`,
    got: `${steps}`,
    remedy: 'Pass the number of steps taken before the action.',
    at,
  });
}

function badHistory(naming: RowNaming, row: number, at: number, code: number): InputError {
  const place = naming.inColumn(row, 'histories', NUM_STEPS, at % NUM_STEPS);
  return illegalAction(place.plus(` (row ${place.row})`), code, {
    remedy: `Pass action codes in the first ${naming.of('stepIndices')}[row] entries of a row.`,
  });
}

const badAction = (naming: RowNaming, actions: Int8Array, row: number): InputError =>
  illegalAction(naming.inColumn(row, 'actions'), actions[row], {
    or: `, or ${NO_ACTION} for none,`,
    remedy: `Pass a code from 0 to ${NUM_ACTIONS - 1}, or ${NO_ACTION} for no action.`,
  });

/** Builds the error for an invalid belief of a history. @param at the index of the belief in [n, 28]. */
function badPastBelief(naming: RowNaming, beliefs: Float32Array, at: number): InputError {
  const [row, step] = [Math.floor(at / NUM_STEPS), at % NUM_STEPS];
  const place = naming.inColumn(row, 'beliefHistories', NUM_STEPS * NUM_BELIEFS, step * NUM_BELIEFS);
  const values = beliefs.subarray(at * NUM_BELIEFS, (at + 1) * NUM_BELIEFS);
  return new InputError('bad_belief', {
    expected: `three finite numbers or three NaN (no belief) at ${place} (row ${place.row}, step ${step})`,
    got: `[${values.join(', ')}]`,
    remedy: 'Pass three finite numbers or three NaN.',
    at: place,
  });
}
