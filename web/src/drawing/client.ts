/** The page's side of the drawing worker. */
import { type Remote, wrap } from 'comlink';
import type { Drawing } from '../../../src/pictures/drawing.js';
import { CallFailed } from '../engine/outcome.js';
import type { DrawingApi } from './worker.js';

let remote: Remote<DrawingApi> | null = null;
let broken: Promise<never>;

/** A drawing as the text of an SVG. @throws CallFailed. */
export async function svgText(drawing: Drawing, theme: 'light' | 'dark'): Promise<string> {
  const outcome = await Promise.race([opened().svg(drawing, theme), broken]);
  if (outcome.ok) return outcome.value;
  throw new CallFailed(outcome.failure);
}

function opened(): Remote<DrawingApi> {
  if (remote !== null) return remote;
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'drawing' });
  broken = new Promise((_, reject) => {
    worker.addEventListener('error', ({ message }) => {
      worker.terminate();
      remote = null;
      const reason = message || 'its script could not be loaded';
      reject(new CallFailed({ kind: 'failed', message: `The drawing worker stopped: ${reason}.` }));
    });
  });
  broken.catch(() => {});
  remote = wrap<DrawingApi>(worker);
  return remote;
}
