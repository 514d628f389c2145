/** The types of figures: plain data, which `svg.ts` renders. */

/** A figure. */
export interface Drawing {
  /** The title, one line. */
  readonly title: string;
  /** A description in words (alternative text). */
  readonly description: string;
  /** A Vega-Lite specification (https://vega.github.io/vega-lite/) as JSON, for use with `CONFIG` of theme.ts. */
  readonly spec: object;
}

/** A figure and the name of its files. */
export interface NamedDrawing {
  /** The name of the figure's files, without extension. */
  readonly name: string;
  readonly drawing: Drawing;
}

/** The texts above a figure. */
export interface Caption {
  /** Default: the subject of the figure. */
  readonly title?: string;
  /** Notes below the title, one line each. Lines are not wrapped. */
  readonly notes?: readonly string[];
}
