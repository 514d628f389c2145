/** Pictures as files: in their order however they are drawn, and no more of them once one fails or nobody wants them. */
import { describe, expect, it } from 'vitest';
import { drawAll, outputsOf } from '../src/cli/files/picture-files.js';
import type { NamedDrawing } from '../src/pictures/drawing.js';
import { pngOf } from '../src/pictures/png.js';
import { drawPrices } from '../src/pictures/prices.js';
import { svgOf } from '../src/pictures/svg.js';

/** The first takes longest. */
const DRAWINGS: readonly NamedDrawing[] = [40, 1, 2, 3, 1].map((size, k) => ({
  name: `picture-${k}`,
  drawing: drawPrices({
    title: `Picture ${k}`,
    baseline: 'nobody',
    rows: Array.from({ length: size }, (_, row) => ({
      name: `row ${row}`,
      gain: { mean: row / 40, low: null, high: null },
    })),
  }),
}));
const signal = new AbortController().signal;

describe('pictures that are drawn together', () => {
  it('are the same bytes as one by one, in the order of the drawings', async () => {
    const done: number[] = [];
    const files = await drawAll(DRAWINGS, { signal, onProgress: (count) => done.push(count) });
    expect(done).toEqual([1, 2, 3, 4, 5]);
    expect(files.map(({ name }) => name)).toEqual(DRAWINGS.map(({ name }) => name));
    for (const [k, { svg, png }] of files.entries()) {
      const alone = await svgOf(DRAWINGS[k].drawing);
      expect(svg).toBe(alone);
      expect(Buffer.from(png).equals(await pngOf(alone))).toBe(true);
    }
    expect(outputsOf(files[1])).toEqual([
      { path: 'picture-1.svg', data: files[1].svg },
      { path: 'picture-1.png', data: files[1].png },
    ]);
  });

  it('are none for none', async () => {
    expect(await drawAll([], { signal })).toEqual([]);
  });
});

describe('no more is begun than the two that are drawn at a time', () => {
  /** Drawings whose specifications note that somebody asks for them. */
  function counted(drawings: readonly NamedDrawing[]) {
    const begun: string[] = [];
    const asked = drawings.map(({ name, drawing }) => ({
      name,
      drawing: {
        ...drawing,
        get spec() {
          begun.push(name);
          return drawing.spec;
        },
      },
    }));
    return { begun, asked };
  }

  it('once one cannot be drawn', async () => {
    const broken = { name: 'broken', drawing: { title: '', description: '', spec: { mark: 'none such' } } };
    const { begun, asked } = counted([broken, ...DRAWINGS]);
    await expect(drawAll(asked, { signal })).rejects.toThrow();
    // Time enough for others to be begun.
    await drawAll(DRAWINGS, { signal });
    expect(begun).toEqual(['broken', 'picture-0']);
  });

  it('once the signal is aborted', async () => {
    const { begun, asked } = counted(DRAWINGS);
    const abort = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => abort.abort(reason);
    await expect(drawAll(asked, { signal: abort.signal, onProgress })).rejects.toBe(reason);
    await drawAll(DRAWINGS, { signal });
    expect(begun).toEqual(['picture-0', 'picture-1']);
  });
});
