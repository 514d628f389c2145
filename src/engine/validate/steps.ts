/** Validates actions, beliefs, masks, and the steps at which environments stop. */

import { InputError, Place, type Where } from '../../shared/errors.js';
import {
  checkInteger,
  checkLength,
  describe,
  isFloats,
  isList,
  kindOf,
  wrongType,
} from '../../shared/values.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { isUnaliased, NO_BUFFERS, type OverwrittenBuffers } from './copy-arguments.js';

/** Codes 0..9, one per environment. */
export type Actions = Uint8Array | Int8Array | Int32Array | readonly number[];

/** The byte for an invalid code that is ignored. It is not a code of an action. */
const IGNORED = 255;

/**
 * Returns codes as bytes. A Uint8Array is returned itself and unchecked: the batch checks its codes. Any other list, and a
 * Uint8Array whose memory may change during the call, is checked and copied.
 * @param unit the meaning of `length`, for errors: "numEnvs".
 * @param scratch the array for the copy; null to allocate one.
 * @param mask u8: 0 for environments whose codes are ignored; null if all are used.
 * @param overwritten the memory that the call overwrites.
 * @throws InputError `illegal_action`, `wrong_length` or `wrong_type`.
 */
export function toActions(
  actions: Actions,
  length: number,
  unit: string,
  scratch: Uint8Array | null,
  mask: Uint8Array | null = null,
  overwritten: OverwrittenBuffers = NO_BUFFERS,
): Uint8Array {
  if (kindOf(actions) === 'Uint8Array' && actions.length === length && isUnaliased(actions, overwritten))
    return actions as Uint8Array;
  if (!isList(actions)) {
    throw wrongType(
      'actions',
      'a Uint8Array, an Int32Array or an array of codes',
      actions,
      'Pass one code per environment.',
    );
  }
  checkLength('actions', actions.length, length, unit);
  const bytes = scratch ?? new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const value = actions[i];
    // The check comes before the assignment, which would reduce other numbers to a byte.
    if (isAction(value)) bytes[i] = value;
    else bytes[i] = mask !== null && mask[i] === 0 ? IGNORED : refuseAction(value, i);
  }
  return bytes;
}

function refuseAction(value: unknown, index: number): never {
  throw illegalAction(new Place('actions', index), value);
}

/**
 * Returns beliefs as f32 [rows, 3]. Returns a Float32Array itself, and a copy of any other list.
 * @param unit the meaning of `rows`, for errors: "numEnvs".
 * @param scratch the array for the copy; null to allocate one.
 * @param mask u8: 0 for rows that are ignored; null if all are used. @param where the argument's name in errors.
 * @throws InputError `wrong_type`, `wrong_length`, or `bad_belief` for an entry that is not a number.
 */
export function toBeliefs(
  beliefs: ArrayLike<number>,
  rows: number,
  unit: string,
  scratch: Float32Array | null,
  mask: Uint8Array | null = null,
  where = 'beliefs',
): Float32Array {
  const areFloats = isFloats(beliefs);
  if (!areFloats && (!isList(beliefs) || isNested(beliefs))) refuseBeliefs(beliefs, unit, where);
  const length = rows * NUM_BELIEFS;
  const got = beliefs.length;
  if (got !== length) checkLength(`numbers in ${where}`, got, length, `${unit} x ${NUM_BELIEFS}`);
  if (areFloats) return beliefs;
  const floats = scratch ?? new Float32Array(length);
  for (let at = 0; at < length; at++) {
    const value = beliefs[at];
    if (typeof value === 'number') floats[at] = value;
    else if (mask === null || mask[Math.floor(at / NUM_BELIEFS)] !== 0) refuseBelief(value, at, where);
    else floats[at] = Number.NaN;
  }
  return floats;
}

/** Writes one belief, three numbers, to every row of f32 [rows, 3]. @returns `floats`. @throws InputError as `toBeliefs`. */
export function repeatBelief(belief: ArrayLike<number>, floats: Float32Array): Float32Array {
  floats.set(toBeliefs(belief, 1, 'numEnvs', null));
  // Doubles the number of copies each time.
  for (let done = NUM_BELIEFS; done < floats.length; done *= 2) floats.copyWithin(done, 0, done);
  return floats;
}

/** Returns whether the first entry is a list. Tests its type first, because `isList` would box a number. */
const isNested = (rows: ArrayLike<unknown>): boolean => typeof rows[0] === 'object' && isList(rows[0]);

/** Returns the sentence of an error that says that the call has changed nothing. */
const unchanged = (where: string): string =>
  where === 'start.beliefs' ? 'No episode has begun.' : 'No episode was stepped.';

function refuseBeliefs(beliefs: ArrayLike<unknown>, unit: string, where: string): never {
  const first = isList(beliefs) ? `, of which the first is ${describe(beliefs[0])}` : '';
  throw new InputError('wrong_type', {
    expected: `${where} to be an array of [${unit}, ${NUM_BELIEFS}] numbers, row by row`,
    got: `${describe(beliefs)}${first}`,
    remedy: 'Pass a Float32Array. To flatten rows, pass beliefs.flatMap((row) => [...row]).',
    at: where,
  });
}

function refuseBelief(value: unknown, at: number, where: string): never {
  throw new InputError('bad_belief', {
    expected: `a number at ${where}[${at}]`,
    got: describe(value),
    remedy: `${unchanged(where)} Pass three NaN for a belief that is not given.`,
  });
}

/** Returns whether a row of three is a belief: finite numbers. */
export function isGiven(beliefs: Float32Array, row: number): boolean {
  const at = row * NUM_BELIEFS;
  // The sum is finite if and only if all terms are: three float32s cannot overflow a float64.
  return Number.isFinite(beliefs[at] + beliefs[at + 1] + beliefs[at + 2]);
}

/** Returns whether the three numbers of a row are NaN, which means no belief. */
export function isAbsent(beliefs: Float32Array, row: number): boolean {
  const at = row * NUM_BELIEFS;
  return Number.isNaN(beliefs[at]) && Number.isNaN(beliefs[at + 1]) && Number.isNaN(beliefs[at + 2]);
}

/** Builds the error for a row that is neither a belief nor three NaN. @param named the row's number in the error. */
export function badBelief(beliefs: Float32Array, row: number, where = 'beliefs', named = row): InputError {
  const values = beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
  return new InputError('bad_belief', {
    expected: `three finite numbers or three NaN (no belief) in ${where} row ${named}`,
    got: `[${values.join(', ')}]`,
    remedy: `${unchanged(where)} Pass three finite numbers or three NaN.`,
    at: new Place(where, named),
  });
}

/**
 * Marks the rows that hold a belief, whatever `mask` is. Rows where `mask` is 0 are never refused.
 * @param given u8 [rows], overwritten: 1 for a belief. @returns `given`. @throws InputError `bad_belief`.
 */
export function toGiven(
  beliefs: Float32Array,
  rows: number,
  given: Uint8Array,
  mask: Uint8Array | null = null,
  where = 'beliefs',
): Uint8Array {
  for (let row = 0; row < rows; row++) {
    if (isGiven(beliefs, row)) given[row] = 1;
    else if (isAbsent(beliefs, row) || mask?.[row] === 0) given[row] = 0;
    else throw badBelief(beliefs, row, where);
  }
  return given;
}

/** Validates a single belief. @returns f32 [3]. @throws InputError `bad_belief`, `wrong_length` or `wrong_type`. */
export function toConstantBelief(belief: ArrayLike<number>): Float32Array {
  if (!isList(belief)) {
    throw new InputError('wrong_type', {
      expected: 'a belief of three numbers',
      got: describe(belief),
      remedy: 'Pass [social, morning, work].',
    });
  }
  checkLength('numbers in a constant belief', belief.length, NUM_BELIEFS, 'social, morning, work');
  const values = Array.from({ length: NUM_BELIEFS }, (_, k) => belief[k]);
  const floats = values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  if (floats?.every(Number.isFinite)) return floats;
  throw new InputError('bad_belief', {
    expected: 'a constant belief of finite numbers',
    got: `[${values.map(describe).join(', ')}]`,
    remedy: 'No episode was stepped. Leave beliefs out to give none.',
  });
}

/**
 * Returns the step at which each environment stops, 0 to 28, as u8 [numEnvs].
 * @throws InputError `out_of_range`, `wrong_length` or `wrong_type`.
 */
export function toStops(stops: ArrayLike<number>, numEnvs: number): Uint8Array {
  if (!isList(stops)) {
    throw wrongType('stops', 'an array', stops, 'Pass one step per environment.');
  }
  checkLength('stops', stops.length, numEnvs, 'numEnvs');
  return Uint8Array.from({ length: numEnvs }, (_, i) =>
    checkInteger(new Place('stops', i), stops[i], 0, NUM_STEPS),
  );
}

/** The code for no action, such as in a completion without an action. */
export const NO_ACTION = -1;

/** Returns whether a value is an action's code. */
export const isAction = (code: unknown): code is number =>
  typeof code === 'number' && Number.isInteger(code) && code >= 0 && code < NUM_ACTIONS;

/** Returns a word of four equal bytes. */
const fourOf = (byte: number): number => byte * 0x01010101;
const LOW_BITS = fourOf(0x7f);
const HIGH_BITS = fourOf(0x80);
/** Added to a word of bytes below 128, this sets the highest bit of each byte that is at least NUM_ACTIONS. */
const ADDEND = fourOf(0x80 - NUM_ACTIONS);

/**
 * Checks four codes at once, as the bytes of a word. Combine the results of many words with `|`, and pass them to
 * `hasIllegalBits`.
 */
export const illegalBits = (codes: number): number => codes | ((codes & LOW_BITS) + ADDEND);

/** Returns whether any of the checked words holds a byte that is not an action's code. */
export const hasIllegalBits = (bits: number): boolean => (bits & HIGH_BITS) !== 0;

interface ErrorDetails {
  /** Text for other valid values, inserted after the range, such as ', or -1 for no action,'. */
  readonly or?: string;
  readonly remedy?: string;
}

/** Builds the error for an invalid action code. */
export const illegalAction = (
  where: Where,
  value: unknown,
  { or = '', remedy = 'No episode was stepped. Pass a code in that range.' }: ErrorDetails = {},
): InputError =>
  new InputError('illegal_action', {
    expected: `an action code from 0 to ${NUM_ACTIONS - 1} (${ACTION_NAMES.join(', ')})${or} at ${where}`,
    got: describe(value),
    remedy,
    at: where,
  });

/** Numbers or booleans, one per environment. Any except 0, NaN and false selects the environment. */
export type Mask = Uint8Array | ArrayLike<number> | readonly boolean[];

/**
 * Returns a mask as u8 [numEnvs]. A Uint8Array is not copied, unless its memory may change during the call.
 * @throws InputError `wrong_type` or `wrong_length`.
 */
export function toMask(mask: Mask, numEnvs: number, overwritten: OverwrittenBuffers): Uint8Array {
  if (!isList(mask)) {
    throw wrongType(
      'mask',
      'a Uint8Array or an array of booleans or numbers',
      mask,
      'Pass one entry per environment.',
    );
  }
  checkLength('entries in mask', mask.length, numEnvs, 'numEnvs');
  if (kindOf(mask) === 'Uint8Array' && isUnaliased(mask, overwritten)) {
    return mask as unknown as Uint8Array;
  }
  const flags = new Uint8Array(numEnvs);
  for (let i = 0; i < numEnvs; i++) flags[i] = flagOf(mask[i], i);
  return flags;
}

function flagOf(value: unknown, index: number): number {
  if (typeof value === 'boolean' || typeof value === 'number') return value ? 1 : 0;
  throw new InputError('wrong_type', {
    expected: `true, false or a number at mask[${index}]`,
    got: describe(value),
    remedy: 'Pass true or false.',
  });
}
