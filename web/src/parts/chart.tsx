/** A picture of src/pictures on the page, with its words as text and its numbers as a table. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Drawing } from '../../../src/pictures/drawing.js';
import { captioned } from '../drawing/caption.js';
import { svgText } from '../drawing/client.js';
import { shownTone } from '../tone.js';
import { useRoom } from './room.js';
import { Table, type TableProps } from './table.js';

export interface ChartProps {
  /**
   * Makes the drawing for so much room, in CSS pixels. Must be the same function while its data are the same (useCallback,
   * or made outside): another one is drawn anew.
   */
  readonly draw: (room: number) => Drawing;
  /** The numbers, for who cannot see the picture or wants them exactly: folded below it. */
  readonly table?: TableProps;
}

export function Chart({ draw, table }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const room = useRoom(place);
  const picture = useMemo(() => (room === null ? null : captioned(draw(room))), [draw, room]);
  const svg = useSvg(picture?.drawing ?? null);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{picture?.title}</h3>
        {picture?.notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </figcaption>
      <div class="drawing" ref={place}>
        {svg.text !== null && <div dangerouslySetInnerHTML={{ __html: svg.text }} />}
        {svg.text === null && svg.why === null && <div class="drawing-to-come" />}
        {svg.why !== null && (
          <p class="note">The picture cannot be drawn: {svg.why} The table has its numbers.</p>
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
  readonly why: string | null;
}

/** The last drawing's picture, until the next one's is there. */
function useSvg(drawing: Drawing | null): Svg {
  const svg = useSignal<Svg>({ text: null, why: null });
  const tone = shownTone.value;
  const before = useRef<Promise<void>>(Promise.resolve());
  useLayoutEffect(() => {
    if (drawing === null) return;
    let current = true;
    // One after the other: what is overtaken while it waits is never drawn, and the last one need not wait for it.
    before.current = before.current.then(async () => {
      if (!current) return;
      const drawn = await svgOf(drawing, tone);
      if (current) svg.value = drawn;
    });
    return () => {
      current = false;
    };
  }, [drawing, tone, svg]);
  return svg.value;
}

const svgOf = (drawing: Drawing, tone: 'light' | 'dark'): Promise<Svg> =>
  svgText(drawing, tone).then(
    (text) => ({ text, why: null }),
    ({ message }: Error) => ({ text: null, why: message }),
  );
