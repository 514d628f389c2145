/** What a picture is before it is drawn: plain data, the same for a file, a report and a page. */

export interface Drawing {
  /** One line. */
  readonly title: string;
  /** What it shows, in words, for who cannot see it. */
  readonly description: string;
  /** A Vega-Lite specification (https://vega.github.io/vega-lite/), to be compiled with `CONFIG`. JSON. */
  readonly spec: object;
}

export interface NamedDrawing {
  /** What its files are called, without an ending. */
  readonly name: string;
  readonly drawing: Drawing;
}

/** What every picture may be told. */
export interface Caption {
  /** Default: what the picture shows. */
  readonly title?: string;
  /** Small print below the title, one line each: they are not wrapped. */
  readonly notes?: readonly string[];
}
