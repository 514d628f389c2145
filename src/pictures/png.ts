/** From SVG to PNG, by a canvas with a font of its own: a machine needs neither a browser nor fonts. */
import { createRequire } from 'node:module';
import { load } from '../libraries.js';
import { checkInteger } from '../validate/values.js';

export interface PngOptions {
  /** Pixels to a unit of the SVG, 1 to 8. Default 2. */
  scale?: number;
}

/**
 * An SVG of `svgOf` as the bytes of a PNG file. The theme 'auto' is light here, as in print. Letters that Inter lacks
 * (it has Latin, Greek and Cyrillic) are taken from the machine's fonts, where it has them.
 * @throws LibraryError `library_missing`; InputError for another scale.
 */
export async function pngOf(svg: string, { scale = 2 }: PngOptions = {}): Promise<Uint8Array> {
  checkInteger('scale', scale, 1, 8);
  const { createCanvas, loadImage } = await loadCanvas();
  const image = await loadImage(Buffer.from(svg));
  // Lines and letters are drawn at the size that the image has, so it gets its size first.
  image.width *= scale;
  image.height *= scale;
  const canvas = createCanvas(image.width, image.height);
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.encode('png');
}

type Canvas = typeof import('@napi-rs/canvas');
let canvas: Promise<Canvas> | undefined;

/** The two weights that pictures use. */
const FONTS = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'];

/** @internal What turns SVG into pixels. @throws LibraryError `library_missing`. */
export function loadCanvas(): Promise<Canvas> {
  // Once: a font registered again would be kept twice.
  canvas ??= load('PNG pictures', ['@napi-rs/canvas@1', '@expo-google-fonts/inter@0.4'], async () => {
    const { resolve } = createRequire(import.meta.url);
    const files = FONTS.map((font) => resolve(`@expo-google-fonts/inter/${font}`));
    const library = await import('@napi-rs/canvas');
    for (const file of files) library.GlobalFonts.registerFromPath(file);
    return library;
  });
  return canvas;
}
