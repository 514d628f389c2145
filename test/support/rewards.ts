/** Rows of the reward stack. */
import { NUM_STEPS } from '../../src/world/fields.js';

/** A tape's row: these actions, then codes that are none, which nobody may read. */
export const tape = (...actions: number[]): number[] => [
  ...actions,
  ...Array(NUM_STEPS - actions.length).fill(255),
];
