/** Sorts rows by history length with a stable counting sort. */
import { NUM_STEPS } from '../../world/fields.js';

/**
 * Returns the indices of rows `first` up to `end` (excluded), the shortest history first.
 * @param without the rows to leave out.
 * @returns u32.
 */
export function orderByLength(
  lengths: Uint8Array,
  first: number,
  end: number,
  without: { has(row: number): boolean; readonly size: number },
): Uint32Array {
  // Mostly no row is left out; then `has` is not called for every row.
  const all = without.size === 0;
  const takes = (row: number): boolean => all || !without.has(row);
  const starts = new Uint32Array(NUM_STEPS + 1);
  for (let i = first; i < end; i++) if (takes(i)) starts[lengths[i] + 1]++;
  for (let length = 0; length < NUM_STEPS; length++) starts[length + 1] += starts[length];
  const order = new Uint32Array(starts[NUM_STEPS]);
  for (let i = first; i < end; i++) if (takes(i)) order[starts[lengths[i]]++] = i;
  return order;
}
