/** Draws and breeds action sequences, by mutation and crossover. A row is 28 action codes; rows are contiguous. */
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';
import type { SearchDraws } from './search-draws.js';

// The four probabilities are chosen by hand. They balance large changes, which find new sequences, and small ones, which
// improve known sequences.
/** The probability that a child copies a stretch (consecutive actions) of a second parent. */
const CROSSOVER = 0.35;
/** The probability that a child of two parents also mutates. Other children always mutate. */
const MUTATION = 0.7;
/** The probability that a mutation draws one new action instead of swapping two. */
const NEW_ACTION = 0.7;
/** The probability that another mutation follows. */
const NEXT_MUTATION = 0.4;

/** Writes a row of uniformly drawn actions at index `at`. */
export function drawSequence(draws: SearchDraws, rows: Uint8Array, at: number): void {
  for (let t = 0; t < NUM_STEPS; t++) rows[at + t] = draws.below(NUM_ACTIONS);
}

/**
 * Writes a child of the row at index `parent` to index `at`. With probability `CROSSOVER`, the child also copies a stretch of
 * the row at `secondParent`, and then mutates with probability `MUTATION`; else it always mutates.
 * @param begin the first step at which a child may differ from its parents. All rows have the same actions before this step.
 */
export function breedSequence(
  draws: SearchDraws,
  rows: Uint8Array,
  parent: number,
  secondParent: number,
  at: number,
  begin = 0,
): void {
  rows.copyWithin(at, parent, parent + NUM_STEPS);
  const crossed = draws.chance(CROSSOVER);
  if (crossed) copyStretch(draws, rows, secondParent, at, begin);
  if (!crossed || draws.chance(MUTATION)) mutateSequence(draws, rows, at, begin);
}

const drawStep = (draws: SearchDraws, begin: number): number => begin + draws.below(NUM_STEPS - begin);

function copyStretch(draws: SearchDraws, rows: Uint8Array, from: number, to: number, begin: number): void {
  const one = drawStep(draws, begin);
  const other = drawStep(draws, begin);
  const first = Math.min(one, other);
  rows.copyWithin(to + first, from + first, from + Math.max(one, other) + 1);
}

/** Draws one new action or swaps two actions; repeats with probability `NEXT_MUTATION`. */
function mutateSequence(draws: SearchDraws, rows: Uint8Array, at: number, begin: number): void {
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
  } while (draws.chance(NEXT_MUTATION));
}

/** Returns a 32-bit hash of a row (FNV-1a). */
export function fingerprint(rows: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let t = at; t < at + NUM_STEPS; t++) hash = Math.imul(hash ^ rows[t], 0x01000193);
  return hash;
}
