/** Rows checked, one by one. What is wrong with one leaves the others as they are. */
import { InputError } from '../../errors.js';
import { illegalAction, NO_ACTION } from '../../validate/actions.js';
import { isList } from '../../validate/values.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { checkColumns, type ReplayColumns, takeColumns } from './columns.js';
import type { Blame } from './faults.js';
import { type ReplayRow, toColumns } from './objects.js';
import { toPeople } from './people.js';
import type { Taken } from './rows.js';

/**
 * What is to be replayed, and who the persons are. The rest of the rows is for `checkRows`.
 * @param rows columns, which are used where they lie; or objects.
 * @param blame told of every row that is none, or whose person is none.
 * @throws InputError for what concerns all rows.
 */
export function takeRows(world: World, rows: ReplayColumns | readonly ReplayRow[], blame: Blame): Taken {
  if (!isList(rows)) return taken(world, takeColumns(rows as ReplayColumns), blame, (i) => `profiles[${i}]`);
  const columns = toColumns(rows as unknown as readonly ReplayRow[], blame);
  return taken(world, columns, blame, (i) => `rows[${i}].profileMode`);
}

/** @param personAt an error's name for a row's person. */
function taken(world: World, columns: ReplayColumns, blame: Blame, personAt: (row: number) => string): Taken {
  const count = columns.seeds.length;
  // First: a list of names may run code of its caller, which could change what was checked, or take its memory away.
  const people = toPeople(world, columns.profiles ?? 'sampled', count, blame, personAt);
  checkColumns(columns, count);
  return { columns, given: new Uint8Array(count), people };
}

/**
 * Whether rows `first` to before `end` have no fault but what may be in their histories, at which whoever plays them
 * looks. Notes who gives a belief.
 */
export function lookFine({ columns, given }: Taken, first: number, end: number): boolean {
  const { stepIndices, actions, beliefs } = columns;
  let faults = 0;
  for (let i = first; i < end; i++) {
    if (stepIndices[i] >= NUM_STEPS || actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) faults++;
    if (beliefs === undefined) continue;
    given[i] = Number(isBelief(beliefs, i));
    if (given[i] === 0 && !isNone(beliefs, i)) faults++;
  }
  return faults === 0;
}

/**
 * Checks rows `first` to before `end` in their order, and notes who gives a belief.
 * @param blame told of every row that cannot be replayed.
 */
export function checkRows({ columns, given }: Taken, first: number, end: number, blame: Blame): void {
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

/** @returns where the first code of a row's history is that is no action; -1 if all are. */
function firstWrong({ histories, stepIndices }: ReplayColumns, row: number): number {
  const begin = row * NUM_STEPS;
  for (let at = begin; at < begin + stepIndices[row]; at++) if (histories[at] >= NUM_ACTIONS) return at;
  return -1;
}

/** @returns 1 where there is a belief. */
function checkBelief(beliefs: Float32Array, row: number, blame: Blame): number {
  if (isBelief(beliefs, row)) return 1;
  if (!isNone(beliefs, row)) blame(row, badBelief(beliefs, row));
  return 0;
}

/** Whether all three are finite: neither an infinity nor a NaN leaves a sum, nor what it is less itself. */
function isBelief(beliefs: Float32Array, row: number): boolean {
  const at = row * NUM_BELIEFS;
  const sum = beliefs[at] + beliefs[at + 1] + beliefs[at + 2];
  return sum - sum === 0;
}

function isNone(beliefs: Float32Array, row: number): boolean {
  const at = row * NUM_BELIEFS;
  return Number.isNaN(beliefs[at]) && Number.isNaN(beliefs[at + 1]) && Number.isNaN(beliefs[at + 2]);
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

function badBelief(beliefs: Float32Array, row: number): InputError {
  const belief = beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
  return new InputError(
    'bad_belief',
    `Expected three finite numbers or three NaN (no belief) in beliefs row ${row}, got [${belief.join(', ')}]. ` +
      'Pass the one or the other.',
  );
}
