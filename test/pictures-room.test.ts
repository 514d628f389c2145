/** Pictures for a page: as wide as they may be, on phones too, and the histogram of scores. */
import { describe, expect, it } from 'vitest';
import { InputError } from '../src/errors.js';
import { drawBands } from '../src/pictures/bands.js';
import { drawComponents } from '../src/pictures/components.js';
import type { Drawing } from '../src/pictures/drawing.js';
import { drawHistogram, type HistogramRow } from '../src/pictures/histogram.js';
import { bandsOf } from '../src/pictures/percentiles.js';
import { svgOf } from '../src/pictures/svg.js';
import { LIGHT } from '../src/pictures/theme.js';
import { drawTimeline } from '../src/pictures/timeline.js';
import { COMPONENT_NAMES, METER_NAMES } from '../src/world/fields.js';
import { RHYTHM } from '../src/world/spec.js';
import { elementsOf, lived, ODD_NAME, textsOf } from './support/pictures.js';

const NAMES = ['heuristic', 'blind-tape+constant'];
const runs = [lived('heuristic'), lived('random')];

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

const IN_ROOM: readonly [kind: string, draw: (room?: number) => Drawing, shown: readonly string[]][] = [
  [
    'bands',
    (room) => drawBands({ room, rows: NAMES.map((name, k) => ({ name, bands: bandsOf(runs[k].meters) })) }),
    METER_NAMES,
  ],
  [
    'components',
    (room) =>
      drawComponents({
        room,
        rows: NAMES.map((name, k) => ({
          name,
          parts: RHYTHM.graders.v2.map((weight, part) => weight * runs[k].components[part]),
        })),
      }),
    COMPONENT_NAMES,
  ],
  [
    'histogram',
    (room) => drawHistogram({ room, rows: histogramRows() }),
    ['final score', 'share of episodes'],
  ],
];

/** Without its title, which a page writes as text: it would be wider than a phone. */
const untitled = ({ spec, ...drawing }: Drawing): Drawing => ({
  ...drawing,
  spec: { ...spec, title: undefined, padding: 2 },
});

describe.each(IN_ROOM)('%s', (_, draw, shown) => {
  it.each([310, 480, 700, 1040])(
    'of %d pixels are not wider, hardly narrower, and show the same',
    async (room) => {
      const svg = await svgOf(untitled(draw(room)));
      const width = Number(elementsOf(svg)[0].attributes.width);
      expect(width).toBeLessThanOrEqual(room);
      expect(width).toBeGreaterThan(0.75 * room);
      const texts = textsOf(svg);
      for (const text of [...NAMES, ...shown]) expect(texts).toContain(text);
    },
  );

  it('tells the same in words, however wide', () => {
    expect(draw(310).description).toBe(draw().description);
  });
});

describe('a timeline', () => {
  const begun = {
    actions: [3, 0],
    meters: Array(3 * METER_NAMES.length).fill(0.5),
    events: [0, 4],
    rewards: [1, -1],
    beliefs: Array(6).fill(0.5),
  };
  it.each([310, 480, 700, 1040])(
    'of %d pixels is not wider, hardly narrower, and shows the same',
    async (room) => {
      const svg = await svgOf(untitled(drawTimeline({ room, week: begun })));
      const width = Number(elementsOf(svg)[0].attributes.width);
      expect(width).toBeLessThanOrEqual(room);
      expect(width).toBeGreaterThan(0.9 * room);
      const texts = textsOf(svg);
      for (const text of [...METER_NAMES, 'illness', 'friend visit', 'Sl', 'DW'])
        expect(texts).toContain(text);
    },
  );
});

describe('a histogram', () => {
  it('has a bar for each bin in which there is somebody, as high as their share', async () => {
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
    expect(textsOf(svg)).toContain('0.4');
    expect(textsOf(svg)).toContain('0.7');
    expect(textsOf(svg)).not.toContain('0.3');
  });

  it('says where most are', () => {
    const counts = new Uint32Array(10).fill(1);
    const { description } = drawHistogram({ rows: [{ name: 'all', counts, mean: 0.5 }] });
    expect(description).toBe('all: mean 0.500, middle 80 % from about 0.05 to 0.85.');
  });

  it('shows whatever name there is, in both themes', async () => {
    const drawing = drawHistogram({ rows: histogramRows([ODD_NAME, 'other']) });
    for (const theme of ['light', 'dark'] as const) {
      const svg = await svgOf(drawing, { theme });
      expect(textsOf(svg)).toContain(ODD_NAME.replace('\u0007', '?'));
      expect(svg.includes(LIGHT.ink)).toBe(theme === 'light');
    }
  });

  const row = (counts: number[], mean = 0.5, name = 'x'): HistogramRow => ({ name, counts, mean });
  it.each<[string, HistogramRow[], string]>([
    ['no rows', [], 'an array of 0'],
    ['three rows', ['a', 'b', 'c'].map((name) => row([1], 0.5, name)), 'at most 2 rows, got 3'],
    ['rows of other bins', [row([1, 2]), row([1], 0.5, 'y')], '2 numbers in the counts of "y"'],
    ['nobody', [row([0, 0])], 'episodes in the counts of "x"'],
    ['a NaN mean', [row([1], Number.NaN)], 'the mean of "x"'],
  ])('refuses %s', (_, rows, mention) => {
    expect(() => drawHistogram({ rows })).toThrow(InputError);
    expect(() => drawHistogram({ rows })).toThrow(mention);
  });
});
