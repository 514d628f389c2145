/** The drawing worker, which runs Vega: it is slow, and it compiles functions from text, which the page's policy forbids. */
import { expose } from 'comlink';
import type { Drawing } from '../../../src/figures/drawing-types.js';
import { svgOf } from '../../../src/figures/svg.js';
import { type Outcome, outcomeOf } from '../engine/outcome.js';

const api = {
  svg: (drawing: Drawing, theme: 'light' | 'dark'): Promise<Outcome<string>> =>
    outcomeOf(() => svgOf(drawing, { theme })),
};

export type DrawingApi = typeof api;

expose(api);
