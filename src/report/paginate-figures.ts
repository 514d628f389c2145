/** Splits figures so that each fits a printed page. */
import type { Drawing } from '../figures/figure.js';
import type { Figure } from './section.js';

/** Returns figures of at most `most` rows each, numbered if there are several. */
export function paginateFigures<Row>(
  name: string,
  rows: readonly Row[],
  most: number,
  draw: (rows: readonly Row[]) => Drawing,
): Figure[] {
  const count = Math.ceil(rows.length / most);
  const each = Math.ceil(rows.length / count);
  return Array.from({ length: count }, (_, k) => ({
    name: count === 1 ? name : `${name}-${k + 1}`,
    drawing: draw(rows.slice(k * each, (k + 1) * each)),
  }));
}
