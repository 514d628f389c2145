/** The fields of the sequence editor's address. */
import { openLoopActions } from '../../../../src/agents/policies/open-loop.js';
import { GRADER_NAMES, NUM_ACTIONS, NUM_STEPS } from '../../../../src/world/fields.js';
import { type Field, oneOf } from '../../address.js';

/** Returns an action sequence as 28 digits, codes of ACTION_NAMES. */
export const digitsOf = (actions: ArrayLike<number>): string => Array.from(actions).join('');

const PATTERN = new RegExp(`^[0-${NUM_ACTIONS - 1}]{${NUM_STEPS}}$`);

const actions: Field<string> = {
  initial: digitsOf(openLoopActions('v2')),
  expected: `${NUM_STEPS} digits, one action for each slot,`,
  read: (text) => (PATTERN.test(text) ? text : null),
  write: (digits) => digits,
};

export const SEQUENCE_FIELDS = {
  actions,
  /** The grader of the histogram. */
  grader: oneOf('v2', GRADER_NAMES),
};
