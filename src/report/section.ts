/** Types of a report's sections, which have text, tables and figures. */
import type { NamedDrawing } from '../figures/drawing-types.js';
import type { Html } from './html.js';

export type Figure = NamedDrawing;
export type Part = Html | Figure;

export interface Section {
  /** The id of the heading, to which the table of contents links. */
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

export const isFigure = (part: Part): part is Figure => 'drawing' in part;
