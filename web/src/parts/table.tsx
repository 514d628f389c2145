/** A table with header cells for screen readers. */
import { useId } from 'preact/hooks';

export interface TableProps {
  readonly caption: string;
  /** The first column has the names of the rows. */
  readonly columns: readonly string[];
  /** The first cell is the row's name. */
  readonly rows: readonly (readonly string[])[];
}

/** A table that scrolls sideways if it is wide, so that the page does not. */
export function Table({ caption, columns, rows }: TableProps) {
  const id = useId();
  return (
    <>
      {/* Not a <caption>, which would be as wide as the table and scroll with it. */}
      <p class="caption" id={id}>
        {caption}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
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
