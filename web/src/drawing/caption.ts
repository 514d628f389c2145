/** Separates the title and notes of a picture. The page shows them as text, which wraps and can be read aloud and copied. */
import type { Drawing } from '../../../src/figures/drawing-types.js';

export interface Captioned {
  readonly title: string;
  /** Small print below the title. */
  readonly notes: readonly string[];
  /** The picture without title and notes. */
  readonly drawing: Drawing;
}

interface Titled {
  readonly title?: string | { readonly text?: string; readonly subtitle?: string | readonly string[] };
}

/** Returns a drawing with its title and notes as separate texts. */
export function captioned(drawing: Drawing): Captioned {
  const { title, ...spec } = drawing.spec as Titled;
  const subtitle = typeof title === 'object' ? title.subtitle : undefined;
  return {
    title: (typeof title === 'object' ? title.text : title) ?? drawing.title,
    notes: subtitle === undefined ? [] : [subtitle].flat(),
    drawing: { ...drawing, spec: { ...spec, padding: 2 } },
  };
}
