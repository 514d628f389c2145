/** The frame of a chart: title and notes as text, legend, picture, and its numbers in a collapsed table. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Fold, Table, type TableProps } from '../parts/content.js';

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
      <Fold title="As a table">
        <Table {...table} />
      </Fold>
    )}
  </figure>
);

interface LegendProps {
  /** `dashed`: whether an earlier row has the same colour, so that the row is drawn dashed. */
  readonly rows: readonly { readonly name: string; readonly colour: string; readonly dashed?: boolean }[];
}

export const Legend = ({ rows }: LegendProps) => (
  <ul class="legend" aria-hidden="true">
    {rows.map(({ name, colour, dashed }) => (
      <li key={name}>
        <span
          class={dashed ? 'chip dashed' : 'chip'}
          style={dashed ? { borderColor: colour } : { background: colour }}
        />
        {name}
      </li>
    ))}
  </ul>
);

/**
 * Widths are multiples of this, in pixels, so that few pictures are drawn while a window is resized. Chosen by hand: a larger
 * step leaves more of the width unused.
 */
const STEP = 20;

/** Returns the width of an element in CSS pixels, rounded down to a multiple of STEP; null before it is known. */
export function useWidth(ref: RefObject<HTMLElement | null>): number | null {
  const width = useSignal<number | null>(null);
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () => {
      const available = Math.floor(element.clientWidth / STEP) * STEP;
      if (available > 0) width.value = available;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref, width]);
  return width.value;
}

/**
 * Returns what each of `count` stages shows. The stages show a new value one by one. Until its turn a stage shows the previous
 * value, or null if there was none.
 */
export function useStages<T>(value: T | null, count: number): readonly (T | null)[] {
  const [shown, setShown] = useState<readonly (T | null)[]>(() => new Array<T | null>(count).fill(null));
  const next = shown.findIndex((each) => each !== value);
  useLayoutEffect(() => {
    if (next < 0) return;
    const timer = setTimeout(() => setShown(shown.map((each, stage) => (stage === next ? value : each))));
    return () => clearTimeout(timer);
  }, [shown, next, value]);
  return shown;
}
