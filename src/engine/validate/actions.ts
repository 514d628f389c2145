/** Checks codes of actions, and builds the error for an invalid one. */
import { InputError, type Where } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { ACTION_NAMES, NUM_ACTIONS } from '../../world/fields.js';

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
  new InputError(
    'illegal_action',
    `Expected an action code from 0 to ${NUM_ACTIONS - 1} (${ACTION_NAMES.join(', ')})${or} at ${where}, ` +
      `got ${describe(value)}. ${remedy}`,
    { at: where },
  );
