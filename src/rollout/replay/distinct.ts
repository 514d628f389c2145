/** Rows that come after the same actions of the same episode, as the completions of a group do. */
import { PROFILE_SIZE } from '../../world/fields.js';
import type { Taken } from './rows.js';
import { maskOf, TAPE_WORDS } from './words.js';

/**
 * Finds rows that continue where the row before them in the order does.
 * @param firsts u32, where the first row of each state is written, and `origins` u32, which state each row continues.
 * @returns how many states there are.
 */
export function findDistinct(
  rows: Taken,
  order: Uint32Array,
  firsts: Uint32Array,
  origins: Uint32Array,
): number {
  const { seeds } = rows.columns;
  let states = 0;
  for (let k = 0; k < order.length; k++) {
    const alike =
      k > 0 && seeds[order[k - 1]] === seeds[order[k]] && continuesAlike(rows, order[k - 1], order[k]);
    if (!alike) firsts[states++] = order[k];
    origins[k] = states - 1;
  }
  return states;
}

/** Of rows with one seed. */
function continuesAlike({ columns, words, people }: Taken, a: number, b: number): boolean {
  const { stepIndices } = columns;
  if (stepIndices[a] !== stepIndices[b] || people.modes[a] !== people.modes[b]) return false;
  const steps = stepIndices[a];
  for (let w = 0; 4 * w < steps; w++) {
    if (((words[a * TAPE_WORDS + w] ^ words[b * TAPE_WORDS + w]) & maskOf(steps, w)) !== 0) return false;
  }
  return people.floats === null || areOnePerson(people.floats, a, b);
}

function areOnePerson(floats: Float32Array, a: number, b: number): boolean {
  for (let k = 0; k < PROFILE_SIZE; k++) {
    if (floats[a * PROFILE_SIZE + k] !== floats[b * PROFILE_SIZE + k]) return false;
  }
  return true;
}
