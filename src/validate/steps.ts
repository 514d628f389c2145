/** What is done at a step: actions, beliefs, and where a run stops. */
import { InputError } from '../errors.js';
import { NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';
import { illegalAction, isAction } from './actions.js';
import { isSettled, NOTHING_WRITTEN, type Written } from './memory.js';
import { checkInteger, checkLength, describe, isFloats, isList, kindOf, lengthOf } from './values.js';

/** Codes 0..9, one per slot. */
export type Actions = Uint8Array | Int8Array | Int32Array | readonly number[];

/** The byte of a slot whose code does not count: no slot may do it. */
const NOTHING = 255;

/**
 * Codes as bytes. A Uint8Array passes as it is, its codes to be checked where they are used, unless its memory may change
 * under the call.
 * @param scratch where other arrays are copied to; null for a new one.
 * @param takes which slots' codes count: those where it is not 0; null for all.
 * @throws InputError `illegal_action`, `wrong_length` or `wrong_type`.
 */
export function toActions(
  actions: Actions,
  length: number,
  unit: string,
  scratch: Uint8Array | null,
  takes: Uint8Array | null = null,
  written: Written = NOTHING_WRITTEN,
): Uint8Array {
  if (!isList(actions)) {
    throw new InputError(
      'wrong_type',
      `Expected actions to be a Uint8Array, an Int32Array or an array of codes, got ${describe(actions)}. ` +
        'Pass one code per slot.',
    );
  }
  checkLength('actions', lengthOf(actions), length, unit);
  if (kindOf(actions) === 'Uint8Array' && isSettled(actions, written)) return actions as Uint8Array;
  const bytes = scratch ?? new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const value = actions[i];
    // What is no byte at all would wrap into one.
    if (isAction(value)) bytes[i] = value;
    else bytes[i] = takes !== null && takes[i] === 0 ? NOTHING : refuseAction(value, i);
  }
  return bytes;
}

function refuseAction(value: unknown, index: number): never {
  throw illegalAction(`actions[${index}]`, value);
}

/**
 * f32 [rows, 3]. A Float32Array passes as it is.
 * @param scratch where other arrays are copied to; null for a new one.
 * @param takes which rows count: those where it is not 0; null for all.
 * @throws InputError `wrong_type`, `wrong_length`, or `bad_belief` for an entry that is no number.
 */
export function toBeliefs(
  beliefs: ArrayLike<number>,
  rows: number,
  unit: string,
  scratch: Float32Array | null,
  takes: Uint8Array | null = null,
): Float32Array {
  const isPlain = isFloats(beliefs);
  if (!isPlain && (!isList(beliefs) || isNested(beliefs))) refuseBeliefs(beliefs, unit);
  const length = rows * NUM_BELIEFS;
  const got = lengthOf(beliefs);
  if (got !== length) checkLength('numbers in beliefs', got, length, `${unit} x ${NUM_BELIEFS}`);
  if (isPlain) return beliefs;
  const floats = scratch ?? new Float32Array(length);
  for (let at = 0; at < length; at++) {
    const value = beliefs[at];
    if (typeof value === 'number') floats[at] = value;
    else if (takes === null || takes[Math.floor(at / NUM_BELIEFS)] !== 0) refuseBelief(value, at);
    else floats[at] = Number.NaN;
  }
  return floats;
}

/** A number that `isList` was asked about would be boxed, and nothing is allocated for a step. */
const isNested = (rows: ArrayLike<unknown>): boolean => typeof rows[0] === 'object' && isList(rows[0]);

function refuseBeliefs(beliefs: ArrayLike<unknown>, unit: string): never {
  const first = isList(beliefs) ? `, of which the first is ${describe(beliefs[0])}` : '';
  throw new InputError(
    'wrong_type',
    `Expected beliefs to be an array of [${unit}, ${NUM_BELIEFS}] numbers, a row after the other, ` +
      `got ${describe(beliefs)}${first}. Pass a Float32Array, or of rows beliefs.flatMap((row) => [...row]).`,
  );
}

function refuseBelief(value: unknown, at: number): never {
  throw new InputError(
    'bad_belief',
    `Expected a number at beliefs[${at}], got ${describe(value)}. No episode was stepped. ` +
      'Pass three NaN for a belief that is not given.',
  );
}

/**
 * Which rows of three are beliefs: a whole row of NaN means none given. Rows where `takes` is 0 do not count.
 * Nothing is allocated: this runs at every step.
 * @param given u8 [rows], where it is written who gives one. @returns it.
 * @throws InputError `bad_belief` for a row that is partly NaN or holds an infinity.
 */
export function toGiven(
  beliefs: Float32Array,
  rows: number,
  given: Uint8Array,
  takes: Uint8Array | null = null,
): Uint8Array {
  for (let row = 0; row < rows; row++) {
    const at = row * NUM_BELIEFS;
    // A sum is finite only if its terms are (three float32s cannot overflow a float64).
    if (Number.isFinite(beliefs[at] + beliefs[at + 1] + beliefs[at + 2])) given[row] = 1;
    else given[row] = takes !== null && takes[row] === 0 ? 0 : absent(beliefs, row);
  }
  return given;
}

function absent(beliefs: Float32Array, row: number): 0 {
  const at = row * NUM_BELIEFS;
  if (Number.isNaN(beliefs[at]) && Number.isNaN(beliefs[at + 1]) && Number.isNaN(beliefs[at + 2])) return 0;
  const values = [beliefs[at], beliefs[at + 1], beliefs[at + 2]];
  throw new InputError(
    'bad_belief',
    `Expected three finite numbers or three NaN (no belief) in beliefs row ${row}, got [${values.join(', ')}]. ` +
      'No episode was stepped. Pass the one or the other.',
  );
}

/** One belief for every step. @throws InputError `bad_belief`, `wrong_length` or `wrong_type`. */
export function toConstantBelief(belief: ArrayLike<number>): Float32Array {
  if (!isList(belief)) {
    throw new InputError(
      'wrong_type',
      `Expected a belief of three numbers, got ${describe(belief)}. Pass [social, morning, work].`,
    );
  }
  checkLength('numbers in a constant belief', lengthOf(belief), NUM_BELIEFS, 'social, morning, work');
  const values = Array.from({ length: NUM_BELIEFS }, (_, k) => belief[k]);
  const floats = values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  if (floats?.every(Number.isFinite)) return floats;
  throw new InputError(
    'bad_belief',
    `Expected a constant belief of finite numbers, got [${values.map(String).join(', ')}]. ` +
      'No episode was stepped. Leave beliefs out to give none.',
  );
}

/** u8 [numEnvs]: where each slot stops. @throws InputError `out_of_range`, `wrong_length` or `wrong_type`. */
export function toStops(stops: ArrayLike<number>, numEnvs: number): Uint8Array {
  if (!isList(stops)) {
    throw new InputError(
      'wrong_type',
      `Expected stops to be an array, got ${describe(stops)}. Pass one step per slot.`,
    );
  }
  checkLength('stops', lengthOf(stops), numEnvs, 'numEnvs');
  return Uint8Array.from({ length: numEnvs }, (_, i) => checkInteger(`stops[${i}]`, stops[i], 0, NUM_STEPS));
}
