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

/** Writes a child of the row at `mother`, and perhaps of that at `father`, at `at`. */
export function breedTape(draws: Draws, rows: Uint8Array, mother: number, father: number, at: number): void {
  rows.copyWithin(at, mother, mother + NUM_STEPS);
  const crossed = draws.chance(CROSSED);
  if (crossed) copyStretch(draws, rows, father, at);
  if (!crossed || draws.chance(ALSO_CHANGED)) changeTape(draws, rows, at);
}

function copyStretch(draws: Draws, rows: Uint8Array, from: number, to: number): void {
  const one = draws.below(NUM_STEPS);
  const other = draws.below(NUM_STEPS);
  const first = Math.min(one, other);
  rows.copyWithin(to + first, from + first, from + Math.max(one, other) + 1);
}

function changeTape(draws: Draws, rows: Uint8Array, at: number): void {
  do {
    const step = at + draws.below(NUM_STEPS);
    if (draws.chance(NEW_ACTION)) {
      rows[step] = draws.below(NUM_ACTIONS);
    } else {
      const other = at + draws.below(NUM_STEPS);
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
