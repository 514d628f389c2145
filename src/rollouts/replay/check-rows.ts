/** Validates rows one by one. An invalid row does not affect the others. */

import { illegalAction, NO_ACTION } from '../../engine/validate/actions.js';
import { badBelief, isAbsent, isGiven } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { isList } from '../../shared/values.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import type { ReplayRows } from './replay-window.js';
import { type ReplayColumns, takeColumns } from './row-columns.js';
import type { Blame } from './row-faults.js';
import { type ReplayRow, toColumns } from './row-objects.js';
import { toRowProfiles } from './row-profiles.js';

/**
 * Validates what concerns all rows, and their profiles. `checkRows` validates the rest of each row.
 * @param rows columns, which are used in place, or objects.
 * @param blame called for every invalid row or profile.
 * @throws InputError for a fault that concerns all rows.
 */
export function takeRows(world: World, rows: ReplayColumns | readonly ReplayRow[], blame: Blame): ReplayRows {
  if (!isList(rows)) return taken(world, takeColumns(rows as ReplayColumns), blame, (i) => `profiles[${i}]`);
  const columns = toColumns(rows as unknown as readonly ReplayRow[], blame);
  return taken(world, columns, blame, (i) => `rows[${i}].profileMode`);
}

/** @param personAt names a row's profile in errors. */
function taken(
  world: World,
  columns: ReplayColumns,
  blame: Blame,
  personAt: (row: number) => string,
): ReplayRows {
  const count = columns.seeds.length;
  const people = toRowProfiles(world, columns.profiles ?? 'sampled', count, blame, personAt);
  return { columns, given: new Uint8Array(count), people };
}

/**
 * Returns whether rows `first` up to `end` (excluded) are valid except for their histories, which the backend checks
 * when it plays them. Sets `given` for these rows.
 */
export function lookFine({ columns, given }: ReplayRows, first: number, end: number): boolean {
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
 * Checks rows `first` up to `end` (excluded) in order, and sets their `given`.
 * @param blame called for every invalid row.
 */
export function checkRows({ columns, given }: ReplayRows, first: number, end: number, blame: Blame): void {
  const { stepIndices, actions, beliefs } = columns;
  for (let i = first; i < end; i++) {
    const steps = stepIndices[i];
    if (steps >= NUM_STEPS) blame(i, badStep(i, steps));
    else checkHistory(columns, i, blame);
    if (actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) blame(i, badAction(actions, i));
    if (beliefs !== undefined) given[i] = checkBelief(beliefs, i, blame);
  }
}

function checkHistory(columns: ReplayColumns, row: number, blame: Blame): void {
  const at = firstWrong(columns, row);
  if (at >= 0) blame(row, badHistory(row, at, columns.histories[at]));
}

/** @returns the index of the first invalid code in a row's history; -1 if there is none. */
function firstWrong({ histories, stepIndices }: ReplayColumns, row: number): number {
  const begin = row * NUM_STEPS;
  for (let at = begin; at < begin + stepIndices[row]; at++) if (histories[at] >= NUM_ACTIONS) return at;
  return -1;
}

/** @returns 1 if the row has a belief. */
function checkBelief(beliefs: Float32Array, row: number, blame: Blame): number {
  if (isGiven(beliefs, row)) return 1;
  if (!isAbsent(beliefs, row)) blame(row, badBelief(beliefs, row));
  return 0;
}

const badStep = (row: number, steps: number): InputError =>
  new InputError(
    'out_of_range',
    `Expected an integer from 0 to ${NUM_STEPS - 1} at stepIndices[${row}], got ${steps}. ` +
      'Pass how many steps were taken before the action.',
  );

const badHistory = (row: number, at: number, code: number): InputError =>
  illegalAction(`histories[${at}], which is of row ${row}`, code, {
    remedy: 'Pass codes of that range, as many as stepIndices says.',
  });

const badAction = (actions: Int8Array, row: number): InputError =>
  illegalAction(`actions[${row}]`, actions[row], {
    or: `, or ${NO_ACTION} for none,`,
    remedy: 'Pass one of these.',
  });
