/** Splits figures so that each fits a printed page. */
import type { Drawing } from '../figures/drawing-types.js';
import type { Figure } from './section.js';

/** Returns figures of at most `maxRows` rows. Numbers their names if there are several. */
export function paginateFigures<Row>(
  name: string,
  rows: readonly Row[],
  maxRows: number,
  draw: (rows: readonly Row[]) => Drawing,
): Figure[] {
  const count = Math.ceil(rows.length / maxRows);
  const rowsPerFigure = Math.ceil(rows.length / count);
  return Array.from({ length: count }, (_, k) => ({
    name: count === 1 ? name : `${name}-${k + 1}`,
    drawing: draw(rows.slice(k * rowsPerFigure, (k + 1) * rowsPerFigure)),
  }));
}
