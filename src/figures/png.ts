/** Renders SVG as PNG, without a browser. Latin, Greek and Cyrillic letters need no fonts of the machine. */
import { createRequire } from 'node:module';
import { load } from '../shared/optional-packages.js';
import { checkInteger } from '../shared/values.js';

/** Options of `pngOf`. */
export interface PngOptions {
  /** Pixels per unit of the SVG, an integer from 1 to 8. Default 2. */
  scale?: number;
}

/**
 * Renders the SVG that `svgOf` returned. Returns the bytes of a PNG file. The theme 'auto' is drawn light, as in print.
 * Latin, Greek and Cyrillic letters are drawn in Inter, other letters in the fonts of the machine.
 * @throws LibraryError `library_missing`; InputError for an invalid scale.
 */
export async function pngOf(svg: string, { scale = 2 }: PngOptions = {}): Promise<Uint8Array> {
  checkInteger('scale', scale, 1, 8);
  const { createCanvas, loadImage } = await loadCanvas();
  const image = await loadImage(Buffer.from(svg));
  // Set the size before drawing: scaling the drawn image would blur it.
  image.width *= scale;
  image.height *= scale;
  const canvas = createCanvas(image.width, image.height);
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.encode('png');
}

type Canvas = typeof import('@napi-rs/canvas');
let canvas: Promise<Canvas> | undefined;

/** The files of the two font weights that figures use. */
const FONTS = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'];

/** @internal Loads the canvas library. @throws LibraryError `library_missing`. */
export function loadCanvas(): Promise<Canvas> {
  // Only the first call registers the fonts, because each registration adds a copy of them to memory.
  canvas ??= load('PNG figures', ['@napi-rs/canvas@1', '@expo-google-fonts/inter@0.4'], async () => {
    const { resolve } = createRequire(import.meta.url);
    const files = FONTS.map((font) => resolve(`@expo-google-fonts/inter/${font}`));
    const library = await import('@napi-rs/canvas');
    for (const file of files) library.GlobalFonts.registerFromPath(file);
    return library;
  });
  return canvas;
}
