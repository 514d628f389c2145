/** Makes new action sequences from old ones. A row is 28 codes; rows are contiguous in an array. */
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { Draws } from './search-draws.js';

/** Probabilities that a child copies a stretch of another sequence, and that such a child also mutates. Others always do. */
const CROSSED = 0.35;
const ALSO_CHANGED = 0.7;
/** Probabilities that a mutation sets a new action instead of swapping two, and that another mutation follows. */
const NEW_ACTION = 0.7;
const ONE_MORE = 0.4;

/** Writes a row of uniformly drawn actions at `at`. */
export function drawSequence(draws: Draws, rows: Uint8Array, at: number): void {
  for (let t = 0; t < NUM_STEPS; t++) rows[at + t] = draws.below(NUM_ACTIONS);
}

/**
 * Writes a child of the rows at `mother` and, with a probability, at `father` to `at`.
 * @param begin the first step in which a child may differ. All rows agree before it.
 */
export function breedSequence(
  draws: Draws,
  rows: Uint8Array,
  mother: number,
  father: number,
  at: number,
  begin = 0,
): void {
  rows.copyWithin(at, mother, mother + NUM_STEPS);
  const crossed = draws.chance(CROSSED);
  if (crossed) copyStretch(draws, rows, father, at, begin);
  if (!crossed || draws.chance(ALSO_CHANGED)) mutateSequence(draws, rows, at, begin);
}

const drawStep = (draws: Draws, begin: number): number => begin + draws.below(NUM_STEPS - begin);

function copyStretch(draws: Draws, rows: Uint8Array, from: number, to: number, begin: number): void {
  const one = drawStep(draws, begin);
  const other = drawStep(draws, begin);
  const first = Math.min(one, other);
  rows.copyWithin(to + first, from + first, from + Math.max(one, other) + 1);
}

function mutateSequence(draws: Draws, rows: Uint8Array, at: number, begin: number): void {
  do {
    const step = at + drawStep(draws, begin);
    if (draws.chance(NEW_ACTION)) {
      rows[step] = draws.below(NUM_ACTIONS);
    } else {
      const other = at + drawStep(draws, begin);
      const action = rows[step];
      rows[step] = rows[other];
      rows[other] = action;
    }
  } while (draws.chance(ONE_MORE));
}

/** Returns a 32-bit hash of a row (FNV-1a). */
export function fingerprint(rows: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let t = at; t < at + NUM_STEPS; t++) hash = Math.imul(hash ^ rows[t], 0x01000193);
  return hash;
}
