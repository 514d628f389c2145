/** The drawing worker. Vega is slow, and it compiles functions from text, which the content policy of the page forbids. */
import { expose } from 'comlink';
import type { Drawing } from '../../../src/figures/figure.js';
import { svgOf } from '../../../src/figures/svg.js';
import { type Outcome, outcomeOf } from '../engine/outcome.js';

const api = {
  svg: (drawing: Drawing, theme: 'light' | 'dark'): Promise<Outcome<string>> =>
    outcomeOf(() => svgOf(drawing, { theme })),
};

export type DrawingApi = typeof api;

expose(api);
