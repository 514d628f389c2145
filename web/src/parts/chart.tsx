/** A picture of src/figures, with its title and notes as text and its numbers as a table. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Drawing } from '../../../src/figures/drawing-types.js';
import { currentScheme } from '../colour-scheme.js';
import { captioned } from '../drawing/caption.js';
import { svgText } from '../drawing/client.js';
import { Table, type TableProps } from './table.js';
import { useWidth } from './use-width.js';

export interface ChartProps {
  /**
   * Makes the drawing for a width in CSS pixels. Must be the same function while the data are the same (useCallback, or
   * defined outside the component): with a new function, the picture is drawn again.
   */
  readonly draw: (width: number) => Drawing;
  /** The numbers of the picture, in a collapsed table below it. */
  readonly table?: TableProps;
}

export function Chart({ draw, table }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const picture = useMemo(() => (width === null ? null : captioned(draw(width))), [draw, width]);
  const svg = useSvg(picture?.drawing ?? null);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{picture?.title}</h3>
        {picture?.notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </figcaption>
      <div class="drawing" ref={container}>
        {svg.text !== null && <div dangerouslySetInnerHTML={{ __html: svg.text }} />}
        {svg.text === null && svg.reason === null && <div class="drawing-to-come" />}
        {svg.reason !== null && (
          <p class="note">The picture cannot be drawn: {svg.reason} The table has its numbers.</p>
        )}
      </div>
      {table !== undefined && (
        <details>
          <summary>As a table</summary>
          <Table {...table} />
        </details>
      )}
    </figure>
  );
}

interface Svg {
  readonly text: string | null;
  readonly reason: string | null;
}

/** Returns the SVG of the drawing; the previous one until it is drawn. */
function useSvg(drawing: Drawing | null): Svg {
  const svg = useSignal<Svg>({ text: null, reason: null });
  const scheme = currentScheme.value;
  const queue = useRef<Promise<void>>(Promise.resolve());
  useLayoutEffect(() => {
    if (drawing === null) return;
    let current = true;
    // Draws one at a time, and skips drawings that were replaced while they waited.
    queue.current = queue.current.then(async () => {
      if (!current) return;
      const drawn = await svgOf(drawing, scheme);
      if (current) svg.value = drawn;
    });
    return () => {
      current = false;
    };
  }, [drawing, scheme, svg]);
  return svg.value;
}

const svgOf = (drawing: Drawing, scheme: 'light' | 'dark'): Promise<Svg> =>
  svgText(drawing, scheme).then(
    (text) => ({ text, reason: null }),
    ({ message }: Error) => ({ text: null, reason: message }),
  );
