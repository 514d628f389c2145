/** What is replayed, as arrays: a column each. */
import type { ProfileChoice } from '../../validate/persons.js';
import { checkLength, checkRecord, kindOf, lengthOf, wrongType } from '../../validate/values.js';
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

/** @returns how many rows there are. @throws InputError `wrong_type` or `wrong_length`. */
export function checkColumns(columns: ReplayColumns): number {
  checkRecord('rows', columns, 'seeds');
  const there = COLUMNS.filter(([name]) => name !== 'beliefs' || columns.beliefs !== undefined);
  for (const [name, kind] of there) {
    if (kindOf(columns[name]) === kind) continue;
    throw wrongType(name, `a ${kind}`, columns[name], 'Pass one, or rows as an array of objects.');
  }
  const rows = lengthOf(columns.seeds);
  for (const [name, , width] of there) {
    const length = lengthOf(columns[name] as ArrayLike<number>);
    checkLength(`entries in ${name}`, length, rows * width, `${width} for each seed`);
  }
  return rows;
}
