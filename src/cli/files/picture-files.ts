/** Pictures as files: each as SVG and as PNG. */
import type { NamedDrawing } from '../../pictures/drawing.js';
import { loadCanvas, pngOf } from '../../pictures/png.js';
import { svgOf } from '../../pictures/svg.js';
import { loadVega } from '../../pictures/vega.js';
import type { OutputFile } from './output-file.js';

/** Refuses, before any work is done, where pictures cannot be drawn. @throws LibraryError `library_missing`. */
export async function checkPictures(): Promise<void> {
  // One after the other: the same is named first each time.
  await loadVega();
  await loadCanvas();
}

/** A drawing's two files, NAME.svg and NAME.png. */
export interface PictureFiles {
  readonly name: string;
  readonly svg: string;
  readonly png: Uint8Array;
}

interface PictureOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Pictures that are made at a time: a PNG is packed by a thread of its own, while this one draws the next. */
const AT_A_TIME = 2;

/** In the order of the drawings. @throws LibraryError `library_missing`; the signal's reason. */
export async function drawAll(
  drawings: readonly NamedDrawing[],
  { signal, onProgress }: PictureOptions,
): Promise<PictureFiles[]> {
  const files: PictureFiles[] = [];
  let done = 0;
  const left = entriesOf(drawings);
  async function drawSome(): Promise<void> {
    for (const [k, { name, drawing }] of left) {
      signal.throwIfAborted();
      const svg = await svgOf(drawing, { theme: 'auto' });
      files[k] = { name, svg, png: await pngOf(svg) };
      onProgress?.(++done, drawings.length);
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, drawSome));
  return files;
}

/** A generator, unlike a list's own iterator, ends for all who share it when one of them fails. */
function* entriesOf<T>(list: readonly T[]): Generator<[number, T]> {
  yield* list.entries();
}

/** As they are written. */
export const outputsOf = ({ name, svg, png }: PictureFiles): OutputFile[] => [
  { path: `${name}.svg`, data: svg },
  { path: `${name}.png`, data: png },
];
