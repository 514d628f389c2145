/** The drawing worker: Vega makes functions of text, which the page's own policy forbids, and takes its time. */
import { expose } from 'comlink';
import type { Drawing } from '../../../src/pictures/drawing.js';
import { svgOf } from '../../../src/pictures/svg.js';
import { type Outcome, outcomeOf } from '../engine/outcome.js';

const api = {
  svg: (drawing: Drawing, theme: 'light' | 'dark'): Promise<Outcome<string>> =>
    outcomeOf(() => svgOf(drawing, { theme })),
};

export type DrawingApi = typeof api;

expose(api);
