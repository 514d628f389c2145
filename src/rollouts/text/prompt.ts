/** Writes an observation as chat messages for a language model (docs/world.md, "The text form"). */
import type { GraderLike } from '../../engine/graders/grader.js';
import { checkInteger, checkLength, isFloats, isList, readOptions, wrongType } from '../../shared/values.js';
import { GRADER_NAMES, OBSERVATION_SIZE } from '../../world/fields.js';
import { checkRow, type PastStep, ROW_SIZE, refuseNumber, writePast } from './observation-row.js';
import { systemText, userText } from './prompt-text.js';

/** A message of a chat. */
export interface ChatMessage<Role extends string = string> {
  /** 'system' or 'user' in prompts. */
  readonly role: Role;
  /** The text. */
  readonly content: string;
}

/** A system message with the rules, and a user message with the state. */
export type Prompt = readonly [system: ChatMessage<'system'>, user: ChatMessage<'user'>];

/** Options of `prompt` and `prompts`. */
export interface PromptOptions {
  /**
   * The grader that the system message describes: a name of GRADER_NAMES, a Grader, or its weights. Default 'v2'. Pass
   * the grader that will grade the episode.
   */
  readonly grader?: GraderLike;
}

const OPTIONS: readonly (keyof PromptOptions)[] = ['grader'];

/**
 * Returns the messages for one step of an episode. Equal observations and histories, as float32 values, give equal text.
 * @param observation if `history` is passed: [22], a raw observation, by OBSERVATION_FIELDS. Otherwise: [106], a row of an
 *   environment that was created with `observation: { history: true }`.
 * @param history the steps before, the oldest first, as `env.history(i)` returns them. The prompt shows the last seven.
 * @returns the system message (one frozen object for all prompts under a built-in grader) and the user message.
 * @throws InputError `unknown_option`, `wrong_type`, `wrong_length`, or `out_of_range` for numbers that are out of range or
 *   contradict the step; for an invalid grader as `graderWeights`.
 */
export function prompt(
  observation: ArrayLike<number>,
  history?: readonly PastStep[],
  options: PromptOptions = {},
): Prompt {
  const system = systemMessage(readOptions('options of prompt', options, OPTIONS));
  const rows = toRows('observation', observation);
  if (history === undefined) {
    checkLength('numbers in observation', rows.length, ROW_SIZE, WITH_PAST);
    return promptOf(system, rows, 0, (at) => `observation[${at}]`);
  }
  checkLength('numbers in observation', rows.length, OBSERVATION_SIZE, RAW);
  const row = new Float32Array(ROW_SIZE);
  writeRow(row, rows, 0, history, 'history');
  return promptOf(system, row, 0, (at) => (at < OBSERVATION_SIZE ? `observation[${at}]` : 'history'));
}

/**
 * Returns the messages for many observations, as `prompt` does for one. A million prompts take about 1 GB; `promptBatches`
 * makes them batch by batch.
 * @param observations row-major: [n, 22] with `histories`, [n, 106] without.
 * @param histories [n]: a list of past steps for each row.
 * @throws InputError as `prompt`; the message names the row.
 */
export function prompts(
  observations: ArrayLike<number>,
  histories?: readonly (readonly PastStep[])[],
  options: PromptOptions = {},
): Prompt[] {
  const system = systemMessage(readOptions('options of prompts', options, OPTIONS));
  const rows = toRowsOfPrompts(observations, histories);
  return promptsOf(system, rows, 0, rows.count);
}

/** Options of `promptBatches`. */
export interface PromptBatchOptions extends PromptOptions {
  /** The number of prompts in a batch, at least 1; the last batch may have fewer. Default 2,048. */
  readonly size?: number;
}

const BATCH_OPTIONS: readonly (keyof PromptBatchOptions)[] = [...OPTIONS, 'size'];
/** The default of `size`. Chosen by hand: larger batches take more memory. */
const BATCH_SIZE = 2048;

/**
 * Returns the prompts of `prompts` batch by batch. Each batch is made when it is requested, and takes no memory after it is
 * dropped: `for (const batch of promptBatches(observations)) await send(batch);`
 * @param observations as in `prompts`. Read when a batch is requested: do not change them before the last batch.
 * @param histories as in `prompts`.
 * @throws InputError for invalid arguments as `prompts`, at once; for invalid rows when their batch is requested.
 */
export function promptBatches(
  observations: ArrayLike<number>,
  histories?: readonly (readonly PastStep[])[],
  options: PromptBatchOptions = {},
): Generator<Prompt[], void, undefined> {
  const { size = BATCH_SIZE, grader } = readOptions('options of promptBatches', options, BATCH_OPTIONS);
  checkInteger('size', size, 1, Number.MAX_SAFE_INTEGER);
  return batchesOf(systemMessage({ grader }), toRowsOfPrompts(observations, histories), size);
}

function* batchesOf(
  system: SystemMessage,
  rows: PromptRows,
  size: number,
): Generator<Prompt[], void, undefined> {
  for (let first = 0; first < rows.count; first += size) {
    yield promptsOf(system, rows, first, Math.min(first + size, rows.count));
  }
}

/** The arguments of `prompts`, validated as a whole; the numbers of a row are checked when its prompt is made. */
interface PromptRows {
  readonly count: number;
  readonly observations: Float32Array;
  /** Null for observations with history. */
  readonly histories: readonly (readonly PastStep[])[] | null;
}

function toRowsOfPrompts(
  observations: ArrayLike<number>,
  histories: readonly (readonly PastStep[])[] | undefined,
): PromptRows {
  const rows = toRows('observations', observations);
  if (histories === undefined) {
    const n = Math.ceil(rows.length / ROW_SIZE);
    checkLength('numbers in observations', rows.length, n * ROW_SIZE, `${n} x ${ROW_SIZE}: ${WITH_PAST}`);
    return { count: n, observations: rows, histories: null };
  }
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
  return { count: n, observations: rows, histories };
}

/** Returns the prompts of rows `first` to `end - 1`. */
function promptsOf(system: SystemMessage, rows: PromptRows, first: number, end: number): Prompt[] {
  const { observations, histories } = rows;
  const row = new Float32Array(ROW_SIZE);
  return Array.from({ length: end - first }, (_, k) => {
    const i = first + k;
    if (histories === null) {
      const base = i * ROW_SIZE;
      return promptOf(system, observations, base, (at) => `observations[${base + at}], row ${i}`);
    }
    const base = i * OBSERVATION_SIZE;
    writeRow(row, observations, base, histories[i], `histories[${i}]`);
    const where = (at: number) =>
      at < OBSERVATION_SIZE ? `observations[${base + at}], row ${i}` : `histories[${i}]`;
    return promptOf(system, row, 0, where);
  });
}

const RAW = 'raw observations';
const WITH_PAST = 'observations with history; for raw observations pass the histories too';

type SystemMessage = ChatMessage<'system'>;

const toSystemMessage = (content: string): SystemMessage => Object.freeze({ role: 'system', content });
/** The messages of the built-in graders, by text. */
const SYSTEM_MESSAGES = new Map(
  GRADER_NAMES.map((name) => systemText(name)).map((text) => [text, toSystemMessage(text)] as const),
);

/** Returns the system message under the grader of the options. */
export function systemMessage({ grader }: PromptOptions): SystemMessage {
  const text = systemText(grader);
  return SYSTEM_MESSAGES.get(text) ?? toSystemMessage(text);
}

/** Returns the name, for errors, of the number at an index of a row. */
type Where = (at: number) => string;

/** Validates the row at index `base`, and returns its prompt. @throws InputError `out_of_range`. */
function promptOf(system: SystemMessage, rows: Float32Array, base: number, where: Where): Prompt {
  checkRow(rows, base, where);
  return [system, { role: 'user', content: userText(rows, base) }];
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
