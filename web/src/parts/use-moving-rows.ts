/** Moves the rows of a list to their new places when their order changes. */
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Milliseconds of a move. Chosen by hand. */
const DURATION = 260;
const stayStill = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Animates each row of a list from its place before this render to its place after it, unless the visitor prefers
 * reduced motion. A row is recognised by its attribute `data-row`.
 */
export function useMovingRows(list: RefObject<HTMLElement | null>): void {
  // Read before the render changes the page. A row that is still moving goes on from where it is.
  const before = placesOf(list.current);
  useLayoutEffect(() => {
    if (before.size === 0) return;
    const rows = rowsOf(list.current);
    for (const row of rows) for (const move of row.getAnimations()) move.cancel();
    const after = placesOf(list.current);
    for (const row of rows) {
      const [from, to] = [before.get(row.dataset.row!), after.get(row.dataset.row!)!];
      if (from === undefined || from === to) continue;
      row.animate([{ transform: `translateY(${from - to}px)` }, { transform: 'none' }], {
        duration: DURATION,
        easing: 'ease-out',
      });
    }
  });
}

const rowsOf = (list: HTMLElement | null): HTMLElement[] =>
  list === null ? [] : Array.from(list.querySelectorAll<HTMLElement>('[data-row]'));

/** Returns the distance of each row from the top of the list, in pixels, by `data-row`; none if rows are not to move. */
function placesOf(list: HTMLElement | null): Map<string, number> {
  if (list === null || stayStill.matches) return new Map();
  const { top } = list.getBoundingClientRect();
  return new Map(rowsOf(list).map((row) => [row.dataset.row!, row.getBoundingClientRect().top - top]));
}
