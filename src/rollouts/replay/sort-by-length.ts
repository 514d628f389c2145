/** Sorts rows by history length with a stable counting sort. */
import { NUM_STEPS } from '../../world/fields.js';

/**
 * Returns the indices of rows `first` to `end - 1`, the shortest history first.
 * @param excluded the rows to leave out.
 * @returns u32.
 */
export function sortByLength(
  lengths: Uint8Array,
  first: number,
  end: number,
  excluded: { has(row: number): boolean; readonly size: number },
): Uint32Array {
  // Usually no row is left out, and `has` need not be called.
  const all = excluded.size === 0;
  const isIncluded = (row: number): boolean => all || !excluded.has(row);
  const starts = new Uint32Array(NUM_STEPS + 1);
  for (let i = first; i < end; i++) if (isIncluded(i)) starts[lengths[i] + 1]++;
  for (let length = 0; length < NUM_STEPS; length++) starts[length + 1] += starts[length];
  const order = new Uint32Array(starts[NUM_STEPS]);
  for (let i = first; i < end; i++) if (isIncluded(i)) order[starts[lengths[i]]++] = i;
  return order;
}
