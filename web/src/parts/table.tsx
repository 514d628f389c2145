/** Numbers in rows, with headers that a screen reader can follow. */
import { useId } from 'preact/hooks';

export interface TableProps {
  readonly caption: string;
  /** The first is of the rows' names. */
  readonly columns: readonly string[];
  /** The first cell is the row's name. */
  readonly rows: readonly (readonly string[])[];
}

/** A wide one is scrolled by itself: the page never is, sideways. */
export function Table({ caption, columns, rows }: TableProps) {
  const id = useId();
  return (
    <>
      {/* Not the table's own, which would be as wide as the table and scrolled away with it. */}
      <p class="caption" id={id}>
        {caption}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="table" tabIndex={0} aria-labelledby={id}>
        <table aria-labelledby={id}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...cells]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {cells.map((cell, k) => (
                  <td key={columns[k + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
