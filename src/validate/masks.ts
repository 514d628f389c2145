/** Which slots a call is about. */
import { InputError } from '../errors.js';
import { isSettled, type Written } from './memory.js';
import { checkLength, describe, isList, kindOf, lengthOf } from './values.js';

/** u8 or booleans, one a slot: anything but 0 and false is yes. */
export type Mask = Uint8Array | ArrayLike<number> | readonly boolean[];

/**
 * u8 [numEnvs]. A Uint8Array passes as it is, unless its memory may change under the call.
 * @throws InputError `wrong_type` or `wrong_length`.
 */
export function toMask(mask: Mask, numEnvs: number, written: Written): Uint8Array {
  if (!isList(mask)) {
    throw new InputError(
      'wrong_type',
      `Expected mask to be a Uint8Array or an array of booleans, got ${describe(mask)}. Pass one entry per slot.`,
    );
  }
  checkLength('entries in mask', lengthOf(mask), numEnvs, 'numEnvs');
  if (kindOf(mask) === 'Uint8Array' && isSettled(mask, written)) {
    return mask as unknown as Uint8Array;
  }
  const flags = new Uint8Array(numEnvs);
  for (let i = 0; i < numEnvs; i++) flags[i] = toFlag(mask[i], i);
  return flags;
}

function toFlag(value: unknown, index: number): number {
  if (typeof value === 'boolean' || typeof value === 'number') return value ? 1 : 0;
  throw new InputError(
    'wrong_type',
    `Expected true, false or a number at mask[${index}], got ${describe(value)}. Pass one of these.`,
  );
}
