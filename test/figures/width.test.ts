/** Tests figures with a maximum width, down to that of a phone, and the histogram of scores. */
import { describe, expect, it } from 'vitest';
import { drawComponents } from '../../src/figures/components.js';
import { bandsOf } from '../../src/figures/episode-means.js';
import type { Drawing } from '../../src/figures/figure.js';
import { drawHistogram, type HistogramRow } from '../../src/figures/histogram.js';
import { drawBands } from '../../src/figures/meter-bands.js';
import { svgOf } from '../../src/figures/svg.js';
import { LIGHT } from '../../src/figures/theme.js';
import { drawTimeline } from '../../src/figures/timeline.js';
import { COMPONENT_NAMES, METER_NAMES } from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { elementsOf, ODD_NAME, playedRun, textsOf } from '../support/pictures.js';

const NAMES = ['heuristic', 'open-loop+constant'];
const runs = [playedRun('heuristic'), playedRun('random')];

/** Counts scores in 100 bins from 0 to 1. */
const countsOf = (scores: Float32Array): Uint32Array => {
  const counts = new Uint32Array(100);
  for (const score of scores) counts[Math.min(99, Math.floor(score * 100))] += 1;
  return counts;
};
const histogramRows = (names = NAMES): HistogramRow[] =>
  names.map((name, k) => ({
    name,
    counts: countsOf(runs[k].finalScores),
    mean: runs[k].finalScores.reduce((sum, score) => sum + score, 0) / runs[k].finalScores.length,
  }));

const FIGURES: readonly [kind: string, draw: (maxWidth?: number) => Drawing, labels: readonly string[]][] = [
  [
    'bands',
    (maxWidth) =>
      drawBands({ maxWidth, rows: NAMES.map((name, k) => ({ name, bands: bandsOf(runs[k].meters) })) }),
    METER_NAMES,
  ],
  [
    'components',
    (maxWidth) =>
      drawComponents({
        maxWidth,
        rows: NAMES.map((name, k) => ({
          name,
          parts: RHYTHM.graders.v2.map((weight, part) => weight * runs[k].components[part]),
        })),
      }),
    COMPONENT_NAMES,
  ],
  [
    'histogram',
    (maxWidth) => drawHistogram({ maxWidth, rows: histogramRows() }),
    ['final score', 'share of episodes'],
  ],
];

/** Removes the title, as pages do: they write it as text, because it may be wider than a phone. */
const withoutTitle = ({ spec, ...drawing }: Drawing): Drawing => ({
  ...drawing,
  spec: { ...spec, title: undefined, padding: 2 },
});

const EPISODE = {
  actions: [3, 0],
  meters: Array(3 * METER_NAMES.length).fill(0.5),
  events: [0, 4],
  rewards: [1, -1],
  beliefs: Array(6).fill(0.5),
};

describe.each([310, 480, 700, 1040])('with a maximum width of %d', (maxWidth) => {
  const drawn = async (drawing: Drawing) => {
    const svg = await svgOf(withoutTitle(drawing));
    const width = Number(elementsOf(svg)[0].attributes.width);
    expect(width).toBeLessThanOrEqual(maxWidth);
    return { share: width / maxWidth, texts: textsOf(svg) };
  };

  it.each(FIGURES)('%s use more than 75 % of it and have the same labels', async (_, draw, labels) => {
    const { share, texts } = await drawn(draw(maxWidth));
    expect(share).toBeGreaterThan(0.75);
    expect(texts).toEqual(expect.arrayContaining([...NAMES, ...labels]));
    expect(draw(maxWidth).description).toBe(draw().description);
  });

  it('a timeline uses more than 90 % of it and has all labels, below 480 short ones for actions', async () => {
    const { share, texts } = await drawn(drawTimeline({ maxWidth, episode: EPISODE }));
    expect(share).toBeGreaterThan(0.9);
    // Where names do not fit, two letters stand for an action, and the caption has the names.
    const actions = maxWidth < 480 ? ['Sl', 'DW'] : ['sleep', 'deep work'];
    const labels = [...METER_NAMES, 'illness', 'friend visit', ...actions];
    expect(texts).toEqual(expect.arrayContaining(labels));
  });
});

describe('a histogram', () => {
  it('has a bar for each non-empty bin, as high as its share', async () => {
    const counts = new Uint32Array(10);
    counts.set([3, 0, 1], 4);
    const svg = await svgOf(drawHistogram({ rows: [{ name: 'one', counts, mean: 0.5 }] }));
    const bars = elementsOf(svg).filter(
      ({ name, attributes }) =>
        name === 'path' && attributes.opacity === '0.5' && !('transform' in attributes),
    );
    const heights = bars.map(({ attributes }) => Number(/v([\d.]+)/.exec(attributes.d)![1]));
    expect(heights).toHaveLength(2);
    expect(heights[0] / heights[1]).toBeCloseTo(3, 6);
    // The axis begins at the first non-empty bin and ends at the last.
    expect(textsOf(svg)).toContain('0.4');
    expect(textsOf(svg)).toContain('0.7');
    expect(textsOf(svg)).not.toContain('0.3');
  });

  it('describes the middle 80 %', () => {
    const counts = new Uint32Array(10).fill(1);
    const { description } = drawHistogram({ rows: [{ name: 'all', counts, mean: 0.5 }] });
    // The centres of the bins with the 10th and the 90th percentile.
    expect(description).toBe('all: mean 0.500, middle 80 % from about 0.05 to 0.85.');
  });

  it('shows a name with special characters, in both themes', async () => {
    const drawing = drawHistogram({ rows: histogramRows([ODD_NAME, 'other']) });
    for (const theme of ['light', 'dark'] as const) {
      const svg = await svgOf(drawing, { theme });
      expect(textsOf(svg)).toContain(ODD_NAME.replace('\u0007', '?'));
      expect(svg.includes(LIGHT.ink)).toBe(theme === 'light');
    }
  });
});
