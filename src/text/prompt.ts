/** What an agent sees, as the chat messages that a language model is asked with (world page, The text form). */
import { checkLength, isFloats, isList, lengthOf, wrongType } from '../validate/values.js';
import { OBSERVATION_SIZE } from '../world/fields.js';
import { checkSeen, type PastStep, refuseNumber, SEEN_SIZE, writePast } from './seen.js';
import { SYSTEM } from './system.js';
import { userContent } from './user.js';

export interface ChatMessage<Role extends string = string> {
  readonly role: Role;
  readonly content: string;
}

/** The rules, then the state. */
export type Prompt = readonly [system: ChatMessage<'system'>, user: ChatMessage<'user'>];

/**
 * The messages for one moment of an episode. A pure function: the same numbers, as float32 values, give the same text.
 * @param observation [22], raw, by OBSERVATION_FIELDS; or, without `history`, [106]: a row of an environment opened with
 *   `observation: { history: true }`.
 * @param history the steps before it, the oldest first, as `env.history(i)` returns them; the last seven are shown.
 * @returns the system message, one frozen object for all prompts, and the user message.
 * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for numbers that no observation holds.
 */
export function prompt(observation: ArrayLike<number>, history?: readonly PastStep[]): Prompt {
  const rows = toRows('observation', observation);
  if (history === undefined) {
    checkLength('numbers in observation', rows.length, SEEN_SIZE, WITH_PAST);
    return promptOf(rows, 0, (at) => `observation[${at}]`);
  }
  checkLength('numbers in observation', rows.length, OBSERVATION_SIZE, RAW);
  const row = new Float32Array(SEEN_SIZE);
  join(row, rows, 0, history, 'history');
  return promptOf(row, 0, (at) => (at < OBSERVATION_SIZE ? `observation[${at}]` : 'history'));
}

/**
 * `prompt` of many moments.
 * @param observations [n, 22], row-major, or without `histories` [n, 106].
 * @param histories [n], a list of steps for each.
 * @throws InputError as `prompt`; it names the row.
 */
export function prompts(
  observations: ArrayLike<number>,
  histories?: readonly (readonly PastStep[])[],
): Prompt[] {
  const rows = toRows('observations', observations);
  return histories === undefined ? promptsOfRows(rows) : promptsWithPast(rows, histories);
}

function promptsOfRows(rows: Float32Array): Prompt[] {
  const n = Math.ceil(rows.length / SEEN_SIZE);
  checkLength('numbers in observations', rows.length, n * SEEN_SIZE, `${n} x ${SEEN_SIZE}: ${WITH_PAST}`);
  return Array.from({ length: n }, (_, i) =>
    promptOf(rows, i * SEEN_SIZE, (at) => `observations[${i * SEEN_SIZE + at}], row ${i}`),
  );
}

function promptsWithPast(rows: Float32Array, histories: readonly (readonly PastStep[])[]): Prompt[] {
  if (!Array.isArray(histories)) {
    throw wrongType('histories', 'an array of lists of steps', histories, 'Pass one list per row.');
  }
  const n = histories.length;
  checkLength(
    'numbers in observations',
    rows.length,
    n * OBSERVATION_SIZE,
    `${n} histories x ${OBSERVATION_SIZE}: ${RAW}`,
  );
  const row = new Float32Array(SEEN_SIZE);
  return Array.from({ length: n }, (_, i) => {
    const base = i * OBSERVATION_SIZE;
    join(row, rows, base, histories[i], `histories[${i}]`);
    const where = (at: number) =>
      at < OBSERVATION_SIZE ? `observations[${base + at}], row ${i}` : `histories[${i}]`;
    return promptOf(row, 0, where);
  });
}

const RAW = 'raw observations';
const WITH_PAST = 'observations with their history, where none is passed';

const SYSTEM_MESSAGE: ChatMessage<'system'> = Object.freeze({ role: 'system', content: SYSTEM });

/** @param where an error's name for a number of the row. */
function promptOf(rows: Float32Array, base: number, where: (at: number) => string): Prompt {
  checkSeen(rows, base, where);
  return [SYSTEM_MESSAGE, { role: 'user', content: userContent(rows, base) }];
}

/** The raw observation at `base` of `rows`, and its past. */
function join(
  row: Float32Array,
  rows: Float32Array,
  base: number,
  past: readonly PastStep[],
  where: string,
): void {
  for (let k = 0; k < OBSERVATION_SIZE; k++) row[k] = rows[base + k];
  writePast(row, past, where);
}

/** As float32 values: a number that was written as JSON gives the text that it gave before. */
function toRows(what: string, rows: ArrayLike<number>): Float32Array {
  if (isFloats(rows)) return rows;
  if (!isList(rows)) {
    throw wrongType(what, 'an array of numbers', rows, 'Pass a Float32Array, row-major.');
  }
  return Float32Array.from({ length: lengthOf(rows) }, (_, at) => {
    const value: unknown = rows[at];
    return typeof value === 'number' ? value : refuseNumber(value, `${what}[${at}]`);
  });
}
