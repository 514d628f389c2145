/** HTML by templates that escape whatever is put into them. */
import { raw, html as template } from 'hono/html';

/** Text that is markup: what a template made, or what `raw` vouches for. */
export type Html = ReturnType<typeof raw>;

/** A template; texts in it are escaped, markup and lists of markup are not. No value may be a promise. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  template(strings, ...values) as Html;

export { raw };

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  /** Numbers stand below each other. Default: true but for the first column. */
  readonly numeric?: boolean;
}

/** A table in a frame that scrolls where it is too wide. @param caption what it shows. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const kind = ({ numeric }: Column<Row>, k: number): string => ((numeric ?? k > 0) ? 'number' : 'text');
  const head = columns.map(
    (column, k) => html`<th scope="col" class="${kind(column, k)}">${column.head}</th>`,
  );
  const cells = (row: Row) =>
    columns.map((column, k) =>
      k === 0
        ? html`<th scope="row"><bdi>${column.cell(row)}</bdi></th>`
        : html`<td class="${kind(column, k)}"><bdi>${column.cell(row)}</bdi></td>`,
    );
  return html`<div class="frame" role="group" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody>
</table></div>
`;
}

/** What few want to see, folded up. */
export const folded = (summary: string, content: Html): Html =>
  html`<details><summary>${summary}</summary>${content}</details>\n`;

export const paragraph = (text: string): Html => html`<p>${text}</p>\n`;
