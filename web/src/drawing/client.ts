/** The page's side of the drawing worker. */
import type { Drawing } from '../../../src/figures/drawing-types.js';
import { WorkerClient } from '../workers/worker-client.js';
import type { DrawingApi } from './worker.js';

const client = new WorkerClient<DrawingApi>(
  'The drawing worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'drawing' }),
);

/** Draws a picture. @returns the text of an SVG. @throws CallFailed. */
export const svgText = (drawing: Drawing, theme: 'light' | 'dark'): Promise<string> =>
  client.call((worker) => worker.svg(drawing, theme));
