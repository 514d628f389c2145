/** The page's side of the drawing worker. */
import type { Drawing } from '../../../src/pictures/drawing.js';
import { WorkerLine } from '../workers/line.js';
import type { DrawingApi } from './worker.js';

const line = new WorkerLine<DrawingApi>(
  'The drawing worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'drawing' }),
);

/** A drawing as the text of an SVG. @throws CallFailed. */
export const svgText = (drawing: Drawing, theme: 'light' | 'dark'): Promise<string> =>
  line.ask((worker) => worker.svg(drawing, theme));
