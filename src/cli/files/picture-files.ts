/** Renders drawings as SVG and as PNG, for files. */
import type { NamedDrawing } from '../../figures/figure.js';
import { loadCanvas, pngOf } from '../../figures/png.js';
import { loadVega, svgOf } from '../../figures/svg.js';
import { loadAll } from '../../shared/optional-packages.js';
import type { OutputFile } from './output-file.js';

/** Loads the drawing packages, before any work is done. @throws LibraryError `library_missing`. */
export const checkPictures = (): Promise<void> => loadAll([loadVega, loadCanvas]);

/** The two files of a drawing, NAME.svg and NAME.png. */
export interface PictureFiles {
  readonly name: string;
  readonly svg: string;
  readonly png: Uint8Array;
}

interface PictureOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** The number of pictures in progress. While another thread compresses a PNG, this thread draws the next picture. */
const CONCURRENCY = 2;

/** Renders drawings. @returns their files in the same order. @throws LibraryError `library_missing`; the signal's reason. */
export async function drawAll(
  drawings: readonly NamedDrawing[],
  { signal, onProgress }: PictureOptions,
): Promise<PictureFiles[]> {
  const files: PictureFiles[] = [];
  let done = 0;
  const remaining = entriesOf(drawings);
  async function drawSome(): Promise<void> {
    for (const [k, { name, drawing }] of remaining) {
      signal.throwIfAborted();
      const svg = await svgOf(drawing, { theme: 'auto' });
      files[k] = { name, svg, png: await pngOf(svg) };
      onProgress?.(++done, drawings.length);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, drawSome));
  return files;
}

/** Yields entries to several loops. If one loop fails, the generator ends for all loops; a list's own iterator would not. */
function* entriesOf<T>(list: readonly T[]): Generator<[number, T]> {
  yield* list.entries();
}

/** Returns the files of a picture. */
export const outputsOf = ({ name, svg, png }: PictureFiles): OutputFile[] => [
  { path: `${name}.svg`, data: svg },
  { path: `${name}.png`, data: png },
];
