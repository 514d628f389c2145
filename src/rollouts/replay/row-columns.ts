/** Validates rows that are passed as columns. */
import { copyIfAliased, NO_BUFFERS } from '../../engine/validate/copy-arguments.js';
import type { ProfileChoice } from '../../engine/validate/profiles.js';
import { InputError } from '../../shared/errors.js';
import { checkLength, checkOptions, checkRecord, kindOf, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { parseCompletions } from '../text/parse-completions.js';

/** Row i is the episode of `seeds[i]` after `stepIndices[i]` actions. */
interface StateColumns {
  /** u32 [n]. */
  readonly seeds: Uint32Array;
  /** Profiles, for all rows or per row. Default 'sampled'. */
  readonly profiles?: ProfileChoice;
  /** u8 [n]: the number of steps taken before the scored action, 0 to 27. */
  readonly stepIndices: Uint8Array;
  /** u8 [n, 28], row-major: the action codes of these steps. Later entries of a row are ignored. */
  readonly histories: Uint8Array;
  /**
   * f32 [n, 28, 3]: the beliefs given with the actions of the histories. Three NaN are no belief; later entries of a row are
   * ignored. Without the array, no belief was given. Beliefs affect only the reward of the 28th step, through the grade:
   * - Without the array, belief_skill of v3 counts only the last of its 20 steps. The reward is up to 1.66 too low if the
   *   earlier beliefs were right, and up to 1.84 too high if they were wrong.
   * - Under v2 the history matters only to rows without a proposed belief: the last belief of the history is graded.
   */
  readonly beliefHistories?: Float32Array;
}

/** Columns of a replay: a state per row, and the actions and beliefs that completions state. */
export interface ReplayColumns extends StateColumns {
  /** i8 [n]: codes of the proposed actions, -1 for completions without an action. */
  readonly actions: Int8Array;
  /** f32 [n, 3]: the proposed beliefs. A row of three NaN, or no array at all, is no belief. */
  readonly beliefs?: Float32Array;
}

/** Columns of a replay with completions. `parseCompletions` parses them. */
export interface CompletionColumns extends StateColumns {
  /** `[n]`: the texts of the completions, without their roles. */
  readonly completions: readonly string[];
}

type Column = keyof Omit<ReplayColumns, 'profiles'>;

/** Type and number of entries per row of each column. */
const COLUMNS: readonly [name: Column, kind: string, width: number][] = [
  ['seeds', 'Uint32Array', 1],
  ['stepIndices', 'Uint8Array', 1],
  ['histories', 'Uint8Array', NUM_STEPS],
  ['actions', 'Int8Array', 1],
  ['beliefs', 'Float32Array', NUM_BELIEFS],
  ['beliefHistories', 'Float32Array', NUM_STEPS * NUM_BELIEFS],
];

const OPTIONAL: ReadonlySet<Column> = new Set(['beliefs', 'beliefHistories']);
const NAMES = [...COLUMNS.map(([name]) => name), 'profiles', 'completions'];

/**
 * Checks the types and lengths of columns, and parses completions.
 * @param inThought whether completions begin inside a thought.
 * @returns columns that no other thread can change, with one row per seed.
 * @throws InputError `wrong_type`, `wrong_length`, or `unknown_option` for an unknown column, or for completions beside actions
 *   or beliefs.
 */
export function validateColumns(rows: ReplayColumns | CompletionColumns, inThought: boolean): ReplayColumns {
  checkOptions('columns', checkRecord('rows', rows, 'seeds'), NAMES);
  const { seeds, profiles, stepIndices, histories, beliefHistories } = rows;
  const { actions, beliefs } = answersOf(rows as Answers, seeds, inThought);
  const passed = { seeds, stepIndices, histories, actions, beliefs, beliefHistories };
  const entries = COLUMNS.map(([name, kind]) => [name, validateColumn(name, kind, passed[name])]);
  const columns = Object.fromEntries(entries) as ReplayColumns;
  for (const [name, , width] of COLUMNS) {
    const length = columns.seeds.length * width;
    checkLength(`entries in ${name}`, columns[name]?.length ?? length, length, `${width} for each seed`);
  }
  return { ...columns, profiles };
}

type Answers = Partial<Pick<ReplayColumns, 'actions' | 'beliefs'> & Pick<CompletionColumns, 'completions'>>;

/** Returns the actions and beliefs, parsed from the completions if there are any. */
function answersOf(
  { completions, actions, beliefs }: Answers,
  seeds: Uint32Array,
  inThought: boolean,
): Pick<ReplayColumns, 'actions' | 'beliefs'> {
  // `validateColumns` refuses a missing column of actions.
  if (completions === undefined) return { actions: actions as Int8Array, beliefs };
  if (actions !== undefined || beliefs !== undefined) {
    throw new InputError('unknown_option', {
      expected: 'either completions or actions and beliefs',
      got: 'both',
      remedy: 'Leave out completions, or actions and beliefs.',
    });
  }
  const parsed = parseCompletions(completions, { noBelief: 'nan', thought: inThought ? 'open' : 'closed' });
  // `validateColumns` refuses seeds of another type.
  if (seeds instanceof Uint32Array) {
    checkLength('completions', completions.length, seeds.length, 'one for each seed');
  }
  return parsed;
}

function validateColumn<T>(name: Column, kind: string, column: T): T {
  if (OPTIONAL.has(name) && column === undefined) return column;
  if (kindOf(column) === kind) return copyIfAliased(column, NO_BUFFERS);
  throw wrongType(name, `a ${kind}`, column, `Pass a ${kind}, or rows as an array of objects.`);
}
