/** Checks masks: the environments that a call applies to. */
import { InputError } from '../../shared/errors.js';
import { checkLength, describe, isList, kindOf } from '../../shared/values.js';
import { isUnaliased, type OverwrittenBuffers } from './aliased-memory.js';

/** Numbers or booleans, one per environment. Any except 0, NaN and false selects the environment. */
export type Mask = Uint8Array | ArrayLike<number> | readonly boolean[];

/**
 * Returns a mask as u8 [numEnvs]. A Uint8Array is not copied, unless its memory may change during the call.
 * @throws InputError `wrong_type` or `wrong_length`.
 */
export function toMask(mask: Mask, numEnvs: number, overwritten: OverwrittenBuffers): Uint8Array {
  if (!isList(mask)) {
    throw new InputError(
      'wrong_type',
      `Expected mask to be a Uint8Array or an array of booleans or numbers, got ${describe(mask)}. Pass one entry per environment.`,
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
  throw new InputError(
    'wrong_type',
    `Expected true, false or a number at mask[${index}], got ${describe(value)}. Pass true or false.`,
  );
}
