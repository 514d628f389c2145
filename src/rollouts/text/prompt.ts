/** Writes an observation as chat messages for a language model (docs/world.md, "The text form"). */
import { checkLength, isFloats, isList, wrongType } from '../../shared/values.js';
import { OBSERVATION_SIZE } from '../../world/fields.js';
import { checkRow, type PastStep, ROW_SIZE, refuseNumber, writePast } from './observation-row.js';
import { SYSTEM } from './system.js';
import { userContent } from './user.js';

/** A message of a chat. */
export interface ChatMessage<Role extends string = string> {
  /** 'system' or 'user' in prompts. */
  readonly role: Role;
  /** The text. */
  readonly content: string;
}

/** A system message with the rules, and a user message with the state. */
export type Prompt = readonly [system: ChatMessage<'system'>, user: ChatMessage<'user'>];

/**
 * Returns the messages for one step of an episode. Equal observations and histories, as float32 values, give equal text.
 * @param observation [22], raw, by OBSERVATION_FIELDS; or [106] without `history`: a row of an environment with
 *   `observation: { history: true }`.
 * @param history the steps before, the oldest first, as `env.history(i)` returns them. The prompt shows the last seven.
 * @returns the system message (one frozen object for all prompts) and the user message.
 * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for numbers outside their field's range.
 */
export function prompt(observation: ArrayLike<number>, history?: readonly PastStep[]): Prompt {
  const rows = toRows('observation', observation);
  if (history === undefined) {
    checkLength('numbers in observation', rows.length, ROW_SIZE, WITH_PAST);
    return promptOf(rows, 0, (at) => `observation[${at}]`);
  }
  checkLength('numbers in observation', rows.length, OBSERVATION_SIZE, RAW);
  const row = new Float32Array(ROW_SIZE);
  writeRow(row, rows, 0, history, 'history');
  return promptOf(row, 0, (at) => (at < OBSERVATION_SIZE ? `observation[${at}]` : 'history'));
}

/**
 * `prompt` for many observations.
 * @param observations [n, 22], row-major; or [n, 106] without `histories`.
 * @param histories [n]: a list of past steps for each row.
 * @throws InputError as `prompt`; the message names the row.
 */
export function prompts(
  observations: ArrayLike<number>,
  histories?: readonly (readonly PastStep[])[],
): Prompt[] {
  const rows = toRows('observations', observations);
  return histories === undefined ? promptsOfRows(rows) : promptsWithPast(rows, histories);
}

function promptsOfRows(rows: Float32Array): Prompt[] {
  const n = Math.ceil(rows.length / ROW_SIZE);
  checkLength('numbers in observations', rows.length, n * ROW_SIZE, `${n} x ${ROW_SIZE}: ${WITH_PAST}`);
  return Array.from({ length: n }, (_, i) =>
    promptOf(rows, i * ROW_SIZE, (at) => `observations[${i * ROW_SIZE + at}], row ${i}`),
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
  const row = new Float32Array(ROW_SIZE);
  return Array.from({ length: n }, (_, i) => {
    const base = i * OBSERVATION_SIZE;
    writeRow(row, rows, base, histories[i], `histories[${i}]`);
    const where = (at: number) =>
      at < OBSERVATION_SIZE ? `observations[${base + at}], row ${i}` : `histories[${i}]`;
    return promptOf(row, 0, where);
  });
}

const RAW = 'raw observations';
const WITH_PAST = 'observations with history; for raw observations pass the histories too';

const SYSTEM_MESSAGE: ChatMessage<'system'> = Object.freeze({ role: 'system', content: SYSTEM });

/** @param where returns the name of a number of the row in errors. */
function promptOf(rows: Float32Array, base: number, where: (at: number) => string): Prompt {
  checkRow(rows, base, where);
  return [SYSTEM_MESSAGE, { role: 'user', content: userContent(rows, base) }];
}

/** Writes the raw observation at index `base` of `rows` and its past steps into one row. */
function writeRow(
  row: Float32Array,
  rows: Float32Array,
  base: number,
  past: readonly PastStep[],
  where: string,
): void {
  for (let k = 0; k < OBSERVATION_SIZE; k++) row[k] = rows[base + k];
  writePast(row, past, where);
}

/** Converts numbers to float32, so that observations stored as JSON give the same prompt. */
function toRows(what: string, rows: ArrayLike<number>): Float32Array {
  if (isFloats(rows)) return rows;
  if (!isList(rows)) {
    throw wrongType(what, 'an array of numbers', rows, 'Pass a Float32Array, row-major.');
  }
  return Float32Array.from({ length: rows.length }, (_, at) => {
    const value: unknown = rows[at];
    return typeof value === 'number' ? value : refuseNumber(value, `${what}[${at}]`);
  });
}
