/** Drawing pictures for files: the results are in order, and no picture is started after a failure or an abort. */
import { describe, expect, it } from 'vitest';
import { drawAll, outputsOf } from '../../src/cli/files/picture-files.js';
import type { NamedDrawing } from '../../src/figures/figure.js';
import { drawGains } from '../../src/figures/gains.js';
import { pngOf } from '../../src/figures/png.js';
import { svgOf } from '../../src/figures/svg.js';

/** The first takes longest to draw. */
const DRAWINGS: readonly NamedDrawing[] = [40, 1, 2, 3, 1].map((size, k) => ({
  name: `picture-${k}`,
  drawing: drawGains({
    title: `Picture ${k}`,
    baseline: 'none',
    rows: Array.from({ length: size }, (_, row) => ({
      name: `row ${row}`,
      gain: { mean: row / 40, low: null, high: null },
    })),
  }),
}));
const signal = new AbortController().signal;

describe('pictures drawn together', () => {
  it('have the same bytes as pictures drawn one by one, in the order of the drawings', async () => {
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
});

describe('no further picture is started', () => {
  /** Returns copies of drawings, and the names of those that were started: drawing a picture reads its `spec`. */
  function recordStarts(drawings: readonly NamedDrawing[]) {
    const started: string[] = [];
    const recorded = drawings.map(({ name, drawing }) => ({
      name,
      drawing: {
        ...drawing,
        get spec() {
          started.push(name);
          return drawing.spec;
        },
      },
    }));
    return { started, recorded };
  }

  it('after a picture fails', async () => {
    const broken = { name: 'broken', drawing: { title: '', description: '', spec: { mark: 'none such' } } };
    const { started, recorded } = recordStarts([broken, ...DRAWINGS]);
    await expect(drawAll(recorded, { signal })).rejects.toThrow();
    // Gives the other drawings time to start.
    await drawAll(DRAWINGS, { signal });
    // Two pictures are in progress at a time.
    expect(started).toEqual(['broken', 'picture-0']);
  });

  it('after the signal is aborted', async () => {
    const { started, recorded } = recordStarts(DRAWINGS);
    const abort = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => abort.abort(reason);
    await expect(drawAll(recorded, { signal: abort.signal, onProgress })).rejects.toBe(reason);
    await drawAll(DRAWINGS, { signal });
    expect(started).toEqual(['picture-0', 'picture-1']);
  });
});
