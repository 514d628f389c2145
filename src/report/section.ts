/** Types of a report's sections, which have text, tables and figures. */
import type { NamedDrawing } from '../figures/drawing-types.js';
import type { Html } from './html.js';

/** A figure of a section. */
export type Figure = NamedDrawing;
/** A part of a section: text, a table or a figure. */
export type Part = Html | Figure;

/** A section of a report. */
export interface Section {
  /** The id of the heading, to which the table of contents links. */
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

/** Returns whether a part is a figure. */
export const isFigure = (part: Part): part is Figure => 'drawing' in part;
