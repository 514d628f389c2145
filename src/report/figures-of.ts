/** Pictures that fit a sheet of paper. */
import type { Drawing } from '../pictures/drawing.js';
import type { Figure } from './section.js';

/** One figure, or several of at most `most` rows each, numbered; of nothing none. */
export function figuresOf<Row>(
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
