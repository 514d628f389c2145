/** The drawing worker: Vega makes functions of text, which the page's own policy forbids, and takes its time. */
import { expose } from 'comlink';
import type { Drawing } from '../../../src/pictures/drawing.js';
import { svgOf } from '../../../src/pictures/svg.js';
import { type Outcome, outcomeOf } from '../engine/outcome.js';

const api = {
  svg: (drawing: Drawing, theme: 'light' | 'dark'): Promise<Outcome<string>> =>
    outcomeOf(async () => asOneImage(await svgOf(drawing, { theme }))),
};

/** Vega gives each mark a role without a name; here a picture is one image, which its description tells of. */
const asOneImage = (svg: string): string =>
  svg.replace(/ role="graphics-[^"]*"/g, '').replace(/ aria-roledescription="[^"]*"/g, '');

export type DrawingApi = typeof api;

expose(api);
