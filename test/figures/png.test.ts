/** Tests figures as PNG: the size, the title, the background, and that nothing is cut off. */
import { describe, expect, it } from 'vitest';
import { pngOf } from '../../src/figures/png.js';
import { DARK, LIGHT } from '../../src/figures/theme.js';
import { elementsOf, PICTURES, Pixels, svgOnce } from '../support/pictures.js';

const sizeOf = (svg: string): number[] => {
  const [{ attributes }] = elementsOf(svg);
  return [Number(attributes.width), Number(attributes.height)];
};

describe.each(PICTURES)('%s', (_, drawing) => {
  it('has the size of the SVG, shows its title, and draws nothing in the margin', async () => {
    const svg = await svgOnce(drawing);
    const pixels = new Pixels(await pngOf(svg, { scale: 1 }));
    expect(pixels.size).toEqual(sizeOf(svg));
    const [width, height] = pixels.size;
    // Narrower than the padding of a figure (CONFIG in src/figures/theme.ts).
    const margin = 8;
    // The title is in this rectangle. The minimum of 1000 pixels is chosen by hand.
    expect(pixels.countDrawn(28, 28, 300, 64)).toBeGreaterThan(1000);
    expect(pixels.countDrawn(0, 0, margin, height)).toBe(0);
    expect(pixels.countDrawn(width - margin, 0, width, height)).toBe(0);
    expect(pixels.countDrawn(0, 0, width, margin)).toBe(0);
    expect(pixels.countDrawn(0, height - margin, width, height)).toBe(0);
  });
});

const [[, PICTURE]] = PICTURES;

it('a PNG starts with the PNG signature and has the same bytes every time', async () => {
  const svg = await svgOnce(PICTURE);
  const png = await pngOf(svg);
  expect(Array.from(png.subarray(0, 8))).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  expect(Buffer.from(await pngOf(svg)).equals(png)).toBe(true);
});

it('a PNG has the size of the SVG times the scale', async () => {
  const svg = await svgOnce(PICTURE);
  const png = await pngOf(svg, { scale: 3 });
  expect(new Pixels(png).size).toEqual(sizeOf(svg).map((length) => length * 3));
});

it('a PNG has the background of its theme', async () => {
  const paper = async (theme: 'auto' | 'dark') =>
    new Pixels(await pngOf(await svgOnce(PICTURE, theme), { scale: 1 })).at(0, 0);
  expect([await paper('auto'), await paper('dark')]).toEqual([LIGHT.paper, DARK.paper]);
});

it.each([0, 9, 1.5, Number.NaN])('a scale of %f is refused', async (scale) => {
  const svg = await svgOnce(PICTURE);
  await expect(pngOf(svg, { scale })).rejects.toThrow(/Expected scale to be an integer from 1 to 8, got/);
});
