/** Compares pictures. Ignores small differences, because processors round colours differently. */
import { loadCanvas } from '../../src/figures/png.js';

/** The largest ignored difference of a channel (0 to 255), chosen by hand. */
const TOLERANCE = 8;

/** Returns whether two PNG files show the same picture. */
export async function isSamePicture(one: Uint8Array, other: Uint8Array): Promise<boolean> {
  const [a, b] = [await pixelsOf(one), await pixelsOf(other)];
  return a.length === b.length && a.every((value, k) => Math.abs(value - b[k]) <= TOLERANCE);
}

/** Returns the width, the height, and the colours of all pixels. */
async function pixelsOf(png: Uint8Array): Promise<number[]> {
  const { createCanvas, loadImage } = await loadCanvas();
  const image = await loadImage(Buffer.from(png));
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  return [width, height, ...context.getImageData(0, 0, width, height).data];
}
