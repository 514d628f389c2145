/** The moves of daily episodes. The browser stores them. Moves can be added but not removed: there is no undo. */
import { signal } from '@preact/signals';
import { isOver, type Move } from '../../person/episode-types.js';
import { movesFrom, movesText } from '../../person/moves-text.js';

const keyOf = (day: string): string => `rhythm-vec.daily.${day}`;

const movesByDay = signal<Readonly<Record<string, readonly Move[]>>>({});

/** Returns the moves of a day so far. */
export const movesOf = (day: string): readonly Move[] => movesByDay.value[day] ?? readStored(day);

/** Adds a move, unless the week is over. */
export function addMove(day: string, move: Move): void {
  const before = movesOf(day);
  if (isOver(before)) return;
  const moves = [...before, move];
  movesByDay.value = { ...movesByDay.value, [day]: moves };
  try {
    localStorage.setItem(keyOf(day), movesText(moves));
  } catch {
    // Without storage the moves last until the page is closed.
  }
}

/** Reads the stored moves. A browser may refuse storage by throwing. */
function readStored(day: string): readonly Move[] {
  try {
    return movesFrom(localStorage.getItem(keyOf(day)) ?? '') ?? [];
  } catch {
    return [];
  }
}
