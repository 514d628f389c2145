/** A picture's words stand on the page as text, which wraps, is read aloud and copied; the rest is drawn. */
import type { Drawing } from '../../../src/pictures/drawing.js';

export interface Captioned {
  readonly title: string;
  /** Small print below the title. */
  readonly notes: readonly string[];
  /** Without them. */
  readonly drawing: Drawing;
}

interface Titled {
  readonly title?: string | { readonly text?: string; readonly subtitle?: string | readonly string[] };
}

export function captioned(drawing: Drawing): Captioned {
  const { title, ...spec } = drawing.spec as Titled;
  const subtitle = typeof title === 'object' ? title.subtitle : undefined;
  return {
    title: (typeof title === 'object' ? title.text : title) ?? drawing.title,
    notes: subtitle === undefined ? [] : [subtitle].flat(),
    drawing: { ...drawing, spec: { ...spec, padding: 2 } },
  };
}
