/** Sections of a report: their types, HTML templates that escape inserted text, and figures that fit a printed page. */
import { raw, html as template } from 'hono/html';
import type { Drawing, NamedDrawing } from '../figures/figure.js';

/** Markup that `html` or `raw` returned. */
export type Html = ReturnType<typeof raw>;

/** A template tag. Escapes inserted text, but not `Html` and lists of `Html`. Values must not be promises. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  template(strings, ...values) as Html;

export { raw };

/** A column of a table: its head, and the text of each row's cell. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  /** Whether cells are aligned as numbers. Default: true except for the first column. */
  readonly numeric?: boolean;
}

/** Returns a table in a frame that scrolls if it is too wide. @param caption the description of the table. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const className = ({ numeric }: Column<Row>, k: number): string => ((numeric ?? k > 0) ? 'number' : 'text');
  const head = columns.map(
    (column, k) => html`<th scope="col" class="${className(column, k)}">${column.head}</th>`,
  );
  const cells = (row: Row) =>
    columns.map((column, k) =>
      k === 0
        ? html`<th scope="row"><bdi>${column.cell(row)}</bdi></th>`
        : html`<td class="${className(column, k)}"><bdi>${column.cell(row)}</bdi></td>`,
    );
  return html`<div class="frame" role="group" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody>
</table></div>
`;
}

/** Returns a block that shows only its summary until the reader opens it. */
export const collapsible = (summary: string, content: Html): Html =>
  html`<details><summary>${summary}</summary>${content}</details>\n`;

/** Returns a paragraph of escaped text. */
export const paragraph = (text: string): Html => html`<p>${text}</p>\n`;

/** A figure of a section. */
export type Figure = NamedDrawing;
/** A part of a section: text, a table or a figure. */
export type Part = Html | Figure;

/** A section of a report. */
export interface Section {
  /** The id of the heading, to which the table of contents links. */
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
  /** Whether the page shows the parts only after the reader opens them. */
  readonly folded?: boolean;
}

/** Returns whether a part is a figure. */
export const isFigure = (part: Part): part is Figure => 'drawing' in part;

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
