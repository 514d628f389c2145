/** Figures as PNG: the right size, with text, and nothing cut off. */
import { describe, expect, it } from 'vitest';
import { pngOf } from '../../src/figures/png.js';
import { svgOf } from '../../src/figures/svg.js';
import { DARK, LIGHT } from '../../src/figures/theme.js';
import { elementsOf, PICTURES, Pixels, svgOnce } from '../support/pictures.js';

const sizeOf = (svg: string): number[] => {
  const [{ attributes }] = elementsOf(svg);
  return [Number(attributes.width), Number(attributes.height)];
};

describe.each(PICTURES)('%s', (_, drawing) => {
  it.each([1, 3])('has the size of the SVG, %i times', async (scale) => {
    const svg = await svgOnce(drawing);
    const png = await pngOf(svg, { scale });
    expect(Array.from(png.subarray(0, 8))).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    expect(new Pixels(png).size).toEqual(sizeOf(svg).map((length) => length * scale));
  });

  it('shows its title, and draws nothing in the margin', async () => {
    const pixels = new Pixels(await pngOf(await svgOnce(drawing)));
    const [width, height] = pixels.size;
    const margin = 8;
    expect(pixels.drawn(28, 28, 300, 64)).toBeGreaterThan(1000);
    expect(pixels.drawn(0, 0, margin, height)).toBe(0);
    expect(pixels.drawn(width - margin, 0, width, height)).toBe(0);
    expect(pixels.drawn(0, 0, width, margin)).toBe(0);
    expect(pixels.drawn(0, height - margin, width, height)).toBe(0);
  });

  it('gives the same bytes every time', async () => {
    const svg = await svgOnce(drawing);
    expect(Buffer.from(await pngOf(svg)).equals(await pngOf(svg))).toBe(true);
  });

  it('has the background of its theme', async () => {
    const paper = async (theme: 'auto' | 'dark') =>
      new Pixels(await pngOf(await svgOf(drawing, { theme }))).at(0, 0);
    expect([await paper('auto'), await paper('dark')]).toEqual([LIGHT.paper, DARK.paper]);
  });
});

it.each([0, 9, 1.5, Number.NaN])('a scale of %f is refused', async (scale) => {
  const svg = await svgOnce(PICTURES[0][1]);
  await expect(pngOf(svg, { scale })).rejects.toThrow(/Expected scale to be an integer from 1 to 8, got/);
});
