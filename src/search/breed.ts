/** New tapes from old ones. A row is 28 codes; rows lie one after the other in an array. */
import { NUM_ACTIONS, NUM_STEPS } from '../world/fields.js';
import type { Draws } from './draws.js';

/** How often a child has a stretch of another tape, and how often such a child is changed besides: others always are. */
const CROSSED = 0.35;
const ALSO_CHANGED = 0.7;
/** How often a change is a new action rather than an exchange of two, and how often one more follows. */
const NEW_ACTION = 0.7;
const ONE_MORE = 0.4;

/** Writes a row of actions drawn uniformly at `at`. */
export function drawTape(draws: Draws, rows: Uint8Array, at: number): void {
  for (let t = 0; t < NUM_STEPS; t++) rows[at + t] = draws.below(NUM_ACTIONS);
}

/**
 * Writes a child of the row at `mother`, and perhaps of that at `father`, at `at`.
 * @param begin the first step that a child may differ in: what is done before is the same in all rows.
 */
export function breedTape(
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
  if (!crossed || draws.chance(ALSO_CHANGED)) changeTape(draws, rows, at, begin);
}

const drawStep = (draws: Draws, begin: number): number => begin + draws.below(NUM_STEPS - begin);

function copyStretch(draws: Draws, rows: Uint8Array, from: number, to: number, begin: number): void {
  const one = drawStep(draws, begin);
  const other = drawStep(draws, begin);
  const first = Math.min(one, other);
  rows.copyWithin(to + first, from + first, from + Math.max(one, other) + 1);
}

function changeTape(draws: Draws, rows: Uint8Array, at: number, begin: number): void {
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

/** 32 bits that tell rows apart: the same for the same codes, and almost never for others. FNV-1a. */
export function fingerprint(rows: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let t = at; t < at + NUM_STEPS; t++) hash = Math.imul(hash ^ rows[t], 0x01000193);
  return hash;
}
