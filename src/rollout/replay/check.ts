/** Columns checked, row by row. What is wrong with one leaves the others as they are. */
import { InputError } from '../../errors.js';
import { checkLength, describe, kindOf, lengthOf } from '../../validate/values.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { type Blame, badAction, badBelief, type ReplayColumns } from './columns.js';

export const NO_ACTION = -1;
/** Words of four codes that a row's history has. */
export const TAPE_WORDS = NUM_STEPS / 4;

const each = (byte: number): number => byte * 0x01010101;
const LOW_BITS = each(0x7f);
const HIGH_BITS = each(0x80);
/** Takes codes from NUM_ACTIONS on, and no others below 128, to their highest bit. */
const GAP = each(0x80 - NUM_ACTIONS);

/** What of word `k` of a history of `steps` codes is part of it. */
export function maskOf(steps: number, k: number): number {
  const codes = steps - 4 * k;
  if (codes >= 4) return -1;
  return codes <= 0 ? 0 : (1 << (8 * codes)) - 1;
}

/** Histories as words, copied if they lie across words. */
export function wordsOf({ histories }: ReplayColumns): Int32Array {
  const aligned = histories.byteOffset % 4 === 0 ? histories : histories.slice();
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
}

const KINDS = {
  seeds: ['Uint32Array', 1],
  stepIndices: ['Uint8Array', 1],
  histories: ['Uint8Array', NUM_STEPS],
  actions: ['Int8Array', 1],
  beliefs: ['Float32Array', NUM_BELIEFS],
} as const;

/** @returns how many rows there are. @throws InputError `wrong_type` or `wrong_length`. */
export function checkColumns(columns: ReplayColumns): number {
  for (const [name, [kind]] of Object.entries(KINDS)) {
    const column = columns[name as keyof typeof KINDS];
    if (kindOf(column) === kind || (name === 'beliefs' && column === undefined)) continue;
    throw new InputError(
      'wrong_type',
      `Expected ${name} to be a ${kind}, got ${describe(column)}. Pass one.`,
    );
  }
  const rows = lengthOf(columns.seeds);
  for (const [name, [, width]] of Object.entries(KINDS)) {
    const column = columns[name as keyof typeof KINDS];
    if (column !== undefined)
      checkLength(`entries in ${name}`, lengthOf(column), rows * width, `${width} for each seed`);
  }
  return rows;
}

/**
 * @param given u8 [rows], where it is written who gives a belief.
 * @param blame told of every row that cannot be replayed.
 */
export function checkRows(columns: ReplayColumns, words: Int32Array, given: Uint8Array, blame: Blame): void {
  const { stepIndices, actions, beliefs } = columns;
  for (let i = 0; i < stepIndices.length; i++) {
    const steps = stepIndices[i];
    if (steps >= NUM_STEPS) blame(i, badStep(i, steps));
    else if (!isLegal(words, i, steps)) blame(i, illegalCode(columns, i));
    if (actions[i] < NO_ACTION || actions[i] >= NUM_ACTIONS) blame(i, badAction(`actions[${i}]`, actions[i]));
    if (beliefs !== undefined) given[i] = checkBelief(beliefs, i, blame);
  }
}

function isLegal(words: Int32Array, row: number, steps: number): boolean {
  let wrong = 0;
  for (let k = 0; 4 * k < steps; k++) {
    const codes = words[row * TAPE_WORDS + k] & maskOf(steps, k);
    wrong |= codes | ((codes & LOW_BITS) + GAP);
  }
  return (wrong & HIGH_BITS) === 0;
}

function illegalCode({ histories, stepIndices }: ReplayColumns, row: number): InputError {
  let at = row * NUM_STEPS;
  const end = at + stepIndices[row];
  while (at < end && histories[at] < NUM_ACTIONS) at++;
  return badAction(`histories[${at}], which is of row ${row}`, histories[at]);
}

const badStep = (row: number, steps: number): InputError =>
  new InputError(
    'out_of_range',
    `Expected an integer from 0 to ${NUM_STEPS - 1} at stepIndices[${row}], got ${steps}. An episode has ${NUM_STEPS} steps.`,
  );

/** @returns 1 where there is a belief. */
function checkBelief(beliefs: Float32Array, row: number, blame: Blame): number {
  const at = row * NUM_BELIEFS;
  const sum = beliefs[at] + beliefs[at + 1] + beliefs[at + 2];
  // Neither an infinity nor a NaN goes in: so none comes out.
  if (sum - sum === 0) return 1;
  let missing = 0;
  for (let k = at; k < at + NUM_BELIEFS; k++) if (Number.isNaN(beliefs[k])) missing++;
  if (missing === NUM_BELIEFS) return 0;
  const k = [at, at + 1, at + 2].find((index) => !Number.isFinite(beliefs[index])) as number;
  blame(row, badBelief(`beliefs[${k}], which is of row ${row}`, beliefs[k]));
  return 0;
}
