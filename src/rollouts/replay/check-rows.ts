/** Validates rows one by one. An invalid row does not affect the others. */

import { illegalAction, NO_ACTION } from '../../engine/validate/actions.js';
import type { EnvProfiles } from '../../engine/validate/profiles.js';
import { badBelief, isAbsent, isGiven } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { isList } from '../../shared/values.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type ReplayColumns, validateColumns } from './row-columns.js';
import type { ReportFault } from './row-faults.js';
import { type ReplayRow, toColumns } from './row-objects.js';
import { toRowProfiles } from './row-profiles.js';

/** The rows of a replay in their original order. */
export interface ReplayRows {
  readonly columns: ReplayColumns;
  readonly profiles: EnvProfiles;
  /** u8 [n]: 1 where a belief is given. A row's entry is set when the row is checked. */
  readonly given: Uint8Array;
}

/**
 * Validates the columns and the profile of each row. `checkRows` validates the other values of each row.
 * @param rows columns, which are used in place, or objects.
 * @param reportFault called for every invalid row or profile.
 * @throws InputError for a fault that concerns all rows.
 */
export function validateRows(
  world: World,
  rows: ReplayColumns | readonly ReplayRow[],
  reportFault: ReportFault,
): ReplayRows {
  const profileAt = isList(rows) ? (i: number) => `rows[${i}].profileMode` : (i: number) => `profiles[${i}]`;
  const columns = isList(rows)
    ? toColumns(rows as unknown as readonly ReplayRow[], reportFault)
    : validateColumns(rows as ReplayColumns);
  const count = columns.seeds.length;
  const profiles = toRowProfiles(world, columns.profiles ?? 'sampled', count, reportFault, profileAt);
  return { columns, profiles, given: new Uint8Array(count) };
}

/**
 * Returns whether rows `first` to `end - 1` are valid, except for their histories, which the backend checks when it
 * replays them. Sets `given` for these rows.
 */
export function passQuickCheck({ columns, given }: ReplayRows, first: number, end: number): boolean {
  const { stepIndices, actions, beliefs } = columns;
  let faults = 0;
  for (let i = first; i < end; i++) {
    if (stepIndices[i] >= NUM_STEPS || actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) faults++;
    if (beliefs === undefined) continue;
    given[i] = Number(isGiven(beliefs, i));
    if (given[i] === 0 && !isAbsent(beliefs, i)) faults++;
  }
  return faults === 0;
}

/**
 * Checks rows `first` to `end - 1` one by one, and sets `given` for them.
 * @param reportFault called for every invalid row.
 */
export function checkRows(
  { columns, given }: ReplayRows,
  first: number,
  end: number,
  reportFault: ReportFault,
): void {
  const { stepIndices, actions, beliefs } = columns;
  for (let i = first; i < end; i++) {
    const steps = stepIndices[i];
    if (steps >= NUM_STEPS) reportFault(i, badStep(i, steps));
    else checkHistory(columns, i, reportFault);
    if (actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) reportFault(i, badAction(actions, i));
    if (beliefs !== undefined) given[i] = checkBelief(beliefs, i, reportFault);
  }
}

function checkHistory(columns: ReplayColumns, row: number, reportFault: ReportFault): void {
  const at = firstInvalid(columns, row);
  if (at >= 0) reportFault(row, badHistory(row, at, columns.histories[at]));
}

/** Returns the index of the first invalid code in a row's history; -1 if all are valid. */
function firstInvalid({ histories, stepIndices }: ReplayColumns, row: number): number {
  const begin = row * NUM_STEPS;
  for (let at = begin; at < begin + stepIndices[row]; at++) if (histories[at] >= NUM_ACTIONS) return at;
  return -1;
}

/** Returns 1 if the row has a belief, else 0. */
function checkBelief(beliefs: Float32Array, row: number, reportFault: ReportFault): number {
  if (isGiven(beliefs, row)) return 1;
  if (!isAbsent(beliefs, row)) reportFault(row, badBelief(beliefs, row));
  return 0;
}

const badStep = (row: number, steps: number): InputError =>
  new InputError(
    'out_of_range',
    `Expected an integer from 0 to ${NUM_STEPS - 1} at stepIndices[${row}], got ${steps}. ` +
      'Pass the number of steps taken before the action.',
  );

const badHistory = (row: number, at: number, code: number): InputError =>
  illegalAction(`histories[${at}] (row ${row})`, code, {
    remedy: 'Pass action codes in the first stepIndices[row] entries of a row.',
  });

const badAction = (actions: Int8Array, row: number): InputError =>
  illegalAction(`actions[${row}]`, actions[row], {
    or: `, or ${NO_ACTION} for none,`,
    remedy: 'Pass one of these.',
  });
