/** Actions by code, and the one way to say that something is none. */
import { InputError } from '../errors.js';
import { ACTION_NAMES, NUM_ACTIONS } from '../world/fields.js';
import { describe } from './values.js';

/** Where a list of codes has none: what a completion without an action, and a step that was not taken, are written as. */
export const NO_ACTION = -1;

export const isAction = (code: unknown): code is number =>
  typeof code === 'number' && Number.isInteger(code) && code >= 0 && code < NUM_ACTIONS;

const each = (byte: number): number => byte * 0x01010101;
const LOW_BITS = each(0x7f);
const HIGH_BITS = each(0x80);
/** Takes codes from NUM_ACTIONS on, and no others below 128, to their highest bit. */
const GAP = each(0x80 - NUM_ACTIONS);

/** Four codes at once, as the bytes of a word: bits that `areFaulty` understands, to be joined by `|` over many words. */
export const faultsOfFour = (codes: number): number => codes | ((codes & LOW_BITS) + GAP);

/** Whether any of the words that these bits are of holds a byte that is no action's code. */
export const areFaulty = (bits: number): boolean => (bits & HIGH_BITS) !== 0;

interface Said {
  /** What else would have been right there, with the commas that it needs. */
  readonly or?: string;
  readonly remedy?: string;
}

/** The error for what is no action. */
export const illegalAction = (
  where: string,
  value: unknown,
  { or = '', remedy = 'No episode was stepped. Pass a code of that range.' }: Said = {},
): InputError =>
  new InputError(
    'illegal_action',
    `Expected an action code from 0 to ${NUM_ACTIONS - 1} (${ACTION_NAMES.join(', ')})${or} at ${where}, ` +
      `got ${describe(value)}. ${remedy}`,
  );
