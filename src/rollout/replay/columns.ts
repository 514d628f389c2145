/** What is replayed, as arrays: a column each. */
import { plainColumn } from '../../validate/memory.js';
import type { ProfileChoice } from '../../validate/persons.js';
import { checkLength, checkOptions, checkRecord, kindOf, wrongType } from '../../validate/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';

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

type Column = keyof Omit<ReplayColumns, 'profiles'>;

/** Of which type each column is, and how many entries it has for a row. */
const COLUMNS: readonly [name: Column, kind: string, width: number][] = [
  ['seeds', 'Uint32Array', 1],
  ['stepIndices', 'Uint8Array', 1],
  ['histories', 'Uint8Array', NUM_STEPS],
  ['actions', 'Int8Array', 1],
  ['beliefs', 'Float32Array', NUM_BELIEFS],
];

const NAMES = [...COLUMNS.map(([name]) => name), 'profiles'];

/**
 * @returns the columns, each read once and without what callers have made of their arrays: one for each seed.
 * @throws InputError `wrong_type`, `wrong_length`, or `unknown_option` for a column that is none of these.
 */
export function takeColumns(rows: ReplayColumns): ReplayColumns {
  checkOptions('columns', checkRecord('rows', rows, 'seeds'), NAMES);
  const { seeds, profiles, stepIndices, histories, actions, beliefs } = rows;
  const given = { seeds, stepIndices, histories, actions, beliefs };
  const entries = COLUMNS.map(([name, kind]) => [name, takeColumn(name, kind, given[name])]);
  const columns = Object.fromEntries(entries) as ReplayColumns;
  checkColumns(columns, columns.seeds.length);
  return { ...columns, profiles };
}

/**
 * Whether columns have the entries of so many rows, as memory can be taken from them while a caller's code runs.
 * @throws InputError `wrong_length`.
 */
export function checkColumns(columns: ReplayColumns, count: number): void {
  for (const [name, , width] of COLUMNS) {
    const length = columns[name]?.length ?? count * width;
    checkLength(`entries in ${name}`, length, count * width, `${width} for each seed`);
  }
}

function takeColumn<T>(name: Column, kind: string, column: T): T {
  if (name === 'beliefs' && column === undefined) return column;
  if (kindOf(column) === kind) return plainColumn(column);
  throw wrongType(name, `a ${kind}`, column, 'Pass one, or rows as an array of objects.');
}
