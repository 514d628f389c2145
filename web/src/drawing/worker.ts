/** The drawing worker. It runs Vega, which is slow and compiles functions from text, which the page forbids. */
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
