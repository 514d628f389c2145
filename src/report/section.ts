/** What a report consists of: sections of text, tables and figures. */
import type { NamedDrawing } from '../pictures/drawing.js';
import type { Html } from './html.js';

export type Figure = NamedDrawing;
export type Part = Html | Figure;

export interface Section {
  /** What the table of contents points at. */
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

export const isFigure = (part: Part): part is Figure => 'drawing' in part;
