/** Action sequences for rows of the reward stack. */
import { NUM_STEPS } from '../../src/world/fields.js';

/** Returns a row of 28 actions: the passed actions, then invalid codes, which must be ignored. */
export const sequence = (...actions: number[]): number[] => [
  ...actions,
  ...Array(NUM_STEPS - actions.length).fill(255),
];
