/** Moves the rows of a table to their new places when their order changes. */
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Milliseconds of a move. Chosen by hand. */
const DURATION = 260;
const stayStill = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Animates each row of a table's body from its place before this render to its place after it, unless the visitor prefers
 * reduced motion. A row is recognised by its attribute `data-row`.
 */
export function useMovingRows(body: RefObject<HTMLTableSectionElement | null>): void {
  // Read before the render changes the page. A row that is still moving goes on from where it is.
  const before = placesOf(body.current);
  useLayoutEffect(() => {
    if (before.size === 0) return;
    const rows = rowsOf(body.current);
    for (const row of rows) for (const move of row.getAnimations()) move.cancel();
    const after = placesOf(body.current);
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

const rowsOf = (body: HTMLTableSectionElement | null): HTMLElement[] =>
  body === null ? [] : Array.from(body.querySelectorAll<HTMLElement>('[data-row]'));

/** Returns the distance of each row from the top of the body, in pixels, by `data-row`; none if rows are not to move. */
function placesOf(body: HTMLTableSectionElement | null): Map<string, number> {
  if (body === null || stayStill.matches) return new Map();
  const { top } = body.getBoundingClientRect();
  return new Map(rowsOf(body).map((row) => [row.dataset.row!, row.getBoundingClientRect().top - top]));
}
