/** Actions by code, and the one way to say that something is none. */
import { InputError } from '../errors.js';
import { ACTION_NAMES, NUM_ACTIONS } from '../world/fields.js';
import { describe } from './values.js';

/** Where a list of codes has none: what a completion without an action, and a step that was not taken, are written as. */
export const NO_ACTION = -1;

export const isAction = (code: unknown): code is number =>
  typeof code === 'number' && Number.isInteger(code) && code >= 0 && code < NUM_ACTIONS;

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
