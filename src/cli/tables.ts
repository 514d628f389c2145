/** Text tables for callers of the package: the table that `eval` prints, and tables of any rows. */
import type { Evaluation } from '../evaluation/evaluate.js';
import { alignedInterval, decimals } from '../evaluation/format-results.js';
import type { Interval } from '../shared/statistics.js';
import { checkLength, checkString, isList, wrongType } from '../shared/values.js';
import { renderHeader, renderTable } from './eval/eval-table.js';
import { renderColumns } from './text-table.js';

/** A cell: text; a number, with three decimals unless it is an integer; a mean with its interval; or null, shown as "-". */
export type Cell = string | number | Interval | null;

/** A column of a table. */
export interface TableColumn {
  /** The head, of one or more lines. */
  readonly head: string;
  /** Default: 'left' for the first column, 'right' for the others. */
  readonly align?: 'left' | 'right';
}

/**
 * Returns the text that `rhythm-vec eval` prints for an evaluation: settings, the table, and the verdict on each policy that may
 * infer. The text ends with a line end.
 * @param details whether to add what `eval --details` adds, without shares.
 */
export const evaluationTable = (
  evaluation: Evaluation,
  { details = false }: { readonly details?: boolean } = {},
): string => `${renderHeader(evaluation)}${renderTable(evaluation, { details })}`;

/**
 * Returns rows as a text table without borders and without a line end at the end, as the commands print them. An interval is
 * shown as its mean and half its width.
 * @param columns heads, or objects with heads. @param rows each with a cell for every column.
 * @throws InputError `wrong_type` or `wrong_length`.
 */
export function textTable(
  columns: readonly (string | TableColumn)[],
  rows: readonly (readonly Cell[])[],
): string {
  if (!isList(columns)) throw wrongType('columns', 'an array', columns, 'Pass the heads.');
  if (!isList(rows)) throw wrongType('rows', 'an array', rows, 'Pass an array of cells per row.');
  const named = Array.from(columns, toColumn);
  const cells = Array.from(rows, (row, i) => {
    if (!isList(row)) throw wrongType(`rows[${i}]`, 'an array', row, 'Pass a cell for every column.');
    checkLength(`cells in rows[${i}]`, row.length, named.length, 'one for each column');
    return Array.from(row as readonly Cell[], (cell, k) => textOf(cell, `rows[${i}][${k}]`));
  });
  return renderColumns(
    named.map(({ head }) => head),
    cells,
    named.map(({ align }, k) => align ?? (k === 0 ? 'left' : 'right')),
  );
}

function toColumn(column: string | TableColumn, k: number): TableColumn {
  const named = typeof column === 'string' ? { head: column } : column;
  checkString(`the head of columns[${k}]`, named?.head);
  return named;
}

function textOf(cell: Cell, where: string): string {
  if (cell === null) return '-';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return Number.isInteger(cell) ? String(cell) : decimals(cell);
  if (typeof cell === 'object' && typeof cell.mean === 'number') return alignedInterval(cell);
  throw wrongType(where, 'a text, a number, an interval or null', cell, 'Pass the cell as a text.');
}
