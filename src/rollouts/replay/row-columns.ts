/** Validates rows that are passed as columns. */
import { copyIfAliased, NOTHING_WRITTEN } from '../../engine/validate/aliased-memory.js';
import type { ProfileChoice } from '../../engine/validate/profiles.js';
import { checkLength, checkOptions, checkRecord, kindOf, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';

/** Row i is the episode of `seeds[i]` after `stepIndices[i]` actions, and the proposed next action. */
export interface ReplayColumns {
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Profiles, for all rows or per row. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** u8 [n]: steps taken before, 0 to 27. */
  readonly stepIndices: Uint8Array;
  /** u8 [n, 28], row-major: the action codes of these steps. Later entries of a row are ignored. */
  readonly histories: Uint8Array;
  /** i8 [n]: codes of the proposed actions, -1 for completions without one. */
  readonly actions: Int8Array;
  /** f32 [n, 3]: the proposed beliefs. A row of three NaN, or no array at all, is no belief. */
  readonly beliefs?: Float32Array;
}

type Column = keyof Omit<ReplayColumns, 'profiles'>;

/** Type and entries per row of each column. */
const COLUMNS: readonly [name: Column, kind: string, width: number][] = [
  ['seeds', 'Uint32Array', 1],
  ['stepIndices', 'Uint8Array', 1],
  ['histories', 'Uint8Array', NUM_STEPS],
  ['actions', 'Int8Array', 1],
  ['beliefs', 'Float32Array', NUM_BELIEFS],
];

const NAMES = [...COLUMNS.map(([name]) => name), 'profiles'];

/**
 * Validates columns.
 * @returns columns that no other thread can change, with one row per seed.
 * @throws InputError `wrong_type`, `wrong_length`, or `unknown_option` for an unknown column.
 */
export function validateColumns(rows: ReplayColumns): ReplayColumns {
  checkOptions('columns', checkRecord('rows', rows, 'seeds'), NAMES);
  const { seeds, profiles, stepIndices, histories, actions, beliefs } = rows;
  const given = { seeds, stepIndices, histories, actions, beliefs };
  const entries = COLUMNS.map(([name, kind]) => [name, validateColumn(name, kind, given[name])]);
  const columns = Object.fromEntries(entries) as ReplayColumns;
  for (const [name, , width] of COLUMNS) {
    const length = columns.seeds.length * width;
    checkLength(`entries in ${name}`, columns[name]?.length ?? length, length, `${width} for each seed`);
  }
  return { ...columns, profiles };
}

function validateColumn<T>(name: Column, kind: string, column: T): T {
  if (name === 'beliefs' && column === undefined) return column;
  if (kindOf(column) === kind) return copyIfAliased(column, NOTHING_WRITTEN);
  throw wrongType(name, `a ${kind}`, column, 'Pass one, or rows as an array of objects.');
}
