/** Finds the invalid codes of runs and replays, for backends in TypeScript. */
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { Refusal, ReplayRequest } from './backend.js';

/**
 * Returns the refusal of the first environment with an invalid code in its action sequence; null if there is none.
 * @param actions u8 [n, 28]. @param stops u8 [n]; null for 28. @param stepOf returns the step at which environment i begins.
 */
export function findSequenceRefusal(
  actions: Uint8Array,
  stops: Uint8Array | null,
  stepOf: (i: number) => number,
): Refusal | null {
  for (let index = 0; index < actions.length / NUM_STEPS; index++) {
    const refusal = findRefusal(actions, index, stepOf(index), stops?.[index] ?? NUM_STEPS);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Returns the refusal of the first row of `order` with an invalid code in its history; null if there is none. */
export function findHistoryRefusal({ order, stops, histories }: ReplayRequest): Refusal | null {
  for (const row of order) {
    const refusal = findRefusal(histories, row, 0, stops[row]);
    if (refusal !== null) return refusal;
  }
  return null;
}

function findRefusal(codes: Uint8Array, index: number, first: number, end: number): Refusal | null {
  for (let step = first; step < end; step++) {
    const value = codes[index * NUM_STEPS + step];
    if (value >= NUM_ACTIONS) return { code: 'illegal_action', index, step, value };
  }
  return null;
}
