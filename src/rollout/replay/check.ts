/** Rows checked, one by one. What is wrong with one leaves the others as they are. */
import { InputError } from '../../errors.js';
import { illegalAction, NO_ACTION } from '../../validate/actions.js';
import { isList } from '../../validate/values.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type ReplayColumns, takeColumns } from './columns.js';
import type { Blame } from './faults.js';
import { type ReplayRow, toColumns } from './objects.js';
import { toPeople } from './people.js';
import type { Taken } from './rows.js';
import { areActions, wordsOf } from './words.js';

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
  // First: a list of names may run code of its caller, which could change what was checked.
  const people = toPeople(world, columns.profiles ?? 'sampled', count, blame, personAt);
  return { columns, words: wordsOf(columns.histories), given: new Uint8Array(count), people };
}

/**
 * Checks rows `first` to before `end`, and notes who gives a belief. Just before they are replayed: what was looked at is
 * in a cache then.
 * @param blame told of every row that cannot be replayed.
 */
export function checkRows({ columns, words, given }: Taken, first: number, end: number, blame: Blame): void {
  const { stepIndices, actions, beliefs } = columns;
  for (let i = first; i < end; i++) {
    const steps = stepIndices[i];
    if (steps >= NUM_STEPS) blame(i, badStep(i, steps));
    else if (!areActions(words, i, steps)) blame(i, badHistory(columns, i));
    if (actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) blame(i, badAction(actions, i));
    if (beliefs !== undefined) given[i] = checkBelief(beliefs, i, blame);
  }
}

/** @returns 1 where there is a belief. */
function checkBelief(beliefs: Float32Array, row: number, blame: Blame): number {
  const at = row * NUM_BELIEFS;
  const social = beliefs[at];
  const morning = beliefs[at + 1];
  const work = beliefs[at + 2];
  const sum = social + morning + work;
  // Neither an infinity nor a NaN goes in: so none comes out.
  if (sum - sum === 0) return 1;
  if (Number.isNaN(social) && Number.isNaN(morning) && Number.isNaN(work)) return 0;
  blame(row, badBelief([social, morning, work], row));
  return 0;
}

const badStep = (row: number, steps: number): InputError =>
  new InputError(
    'out_of_range',
    `Expected an integer from 0 to ${NUM_STEPS - 1} at stepIndices[${row}], got ${steps}. ` +
      'Pass how many steps were taken before the action.',
  );

function badHistory({ histories, stepIndices }: ReplayColumns, row: number): InputError {
  let at = row * NUM_STEPS;
  const end = at + stepIndices[row];
  while (at < end && histories[at] < NUM_ACTIONS) at++;
  return illegalAction(`histories[${at}], which is of row ${row}`, histories[at], {
    remedy: 'Pass codes of that range, as many as stepIndices says.',
  });
}

const badAction = (actions: Int8Array, row: number): InputError =>
  illegalAction(`actions[${row}]`, actions[row], {
    or: `, or ${NO_ACTION} for none,`,
    remedy: 'Pass one of these.',
  });

const badBelief = (belief: readonly number[], row: number): InputError =>
  new InputError(
    'bad_belief',
    `Expected three finite numbers or three NaN (no belief) in beliefs row ${row}, got [${belief.join(', ')}]. ` +
      'Pass the one or the other.',
  );
