/** The frame of a chart: title and notes as text, the picture, and its numbers in a collapsed table. */
import type { ComponentChildren } from 'preact';
import { Table, type TableProps } from '../parts/table.js';

interface ChartFigureProps {
  readonly title: string;
  readonly notes?: readonly string[];
  readonly table?: TableProps;
  readonly children: ComponentChildren;
}

export const ChartFigure = ({ title, notes = [], table, children }: ChartFigureProps) => (
  <figure class="chart">
    <figcaption>
      <h3>{title}</h3>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </figcaption>
    {children}
    {table !== undefined && (
      <details>
        <summary>As a table</summary>
        <Table {...table} />
      </details>
    )}
  </figure>
);

interface LegendProps {
  readonly names: readonly string[];
  readonly colours: readonly string[];
  /** For each name, whether an earlier name has its colour, so that it is drawn dashed. */
  readonly dashed?: readonly boolean[];
}

export const Legend = ({ names, colours, dashed = [] }: LegendProps) => (
  <ul class="legend" aria-hidden="true">
    {names.map((name, k) => (
      <li key={name}>
        <span
          class={dashed[k] ? 'chip dashed' : 'chip'}
          style={dashed[k] ? { borderColor: colours[k] } : { background: colours[k] }}
        />
        {name}
      </li>
    ))}
  </ul>
);
