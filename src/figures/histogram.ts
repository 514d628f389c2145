/** Figure: histograms of final scores, one for each policy, on the same axes. */
import { InputError } from '../shared/errors.js';
import { type Caption, checkNames, checkNumber, checkNumbers, type Drawing, type Named } from './figure.js';
import {
  ACCENT,
  colourOfPlayer,
  decimal,
  type Layer,
  LIGHT,
  SERIES,
  type TopView,
  widestOf,
} from './theme.js';

/** The data of the figure. */
export interface HistogramPicture extends Caption {
  /** One or two rows. More would be hard to distinguish. */
  readonly rows: readonly HistogramRow[];
  /** Maximum width in pixels. Default 620. */
  readonly maxWidth?: number;
}

/** The distribution of one policy's final scores. */
export interface HistogramRow extends Named {
  /** Episode counts of equal bins of [0, 1], from the lowest. All rows have the same number of bins. */
  readonly counts: ArrayLike<number>;
  /** The mean of the final scores. */
  readonly mean: number;
}

/** Widths in pixels: the default maximum of the figure, and the minimum of the plot area. All sizes here are chosen by hand. */
const DEFAULT_WIDTH = 620;
const MIN_WIDTH = 120;
/** The width of axis and padding. */
const MARGIN = 64;
const HEIGHT = 190;
/** The maximum number of rows. */
const MAX_ROWS = 2;
/** The colours of two rows whose policies have the same colour. */
const COLOURS = [SERIES, ACCENT];

function coloursOf(rows: readonly HistogramRow[]): readonly string[] {
  const colours = rows.map(({ name }) => colourOfPlayer(name));
  return new Set(colours).size === rows.length ? colours : COLOURS;
}

/**
 * Draws the share of episodes in each bin of scores as bars, and the mean of each row as a dashed line.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawHistogram(picture: HistogramPicture): Drawing {
  const { rows, title = 'Distribution of the final scores', notes = [], maxWidth = DEFAULT_WIDTH } = picture;
  checkRows(rows);
  const bins = rows[0].counts.length;
  const spec: TopView = {
    title: {
      text: title,
      subtitle: [`Share of episodes in each of ${bins} equal bins. Dashed: the means.`, ...notes],
    },
    width: Math.max(MIN_WIDTH, maxWidth - MARGIN),
    height: HEIGHT,
    data: { values: rows.flatMap(binsOf) },
    layer: [barsOn(domainOf(rows), rows), { ...MEANS, data: { values: rows.map(meanOf) } }],
  };
  return { title, description: histogramInWords(rows), spec };
}

function checkRows(rows: readonly HistogramRow[]): void {
  checkNames('rows', rows);
  if (rows.length > MAX_ROWS) {
    throw new InputError('wrong_length', {
      expected: `at most ${MAX_ROWS} rows`,
      got: `${rows.length}`,
      remedy: 'Draw several histograms.',
    });
  }
  const bins = rows[0].counts?.length ?? 0;
  for (const { name, counts, mean } of rows) {
    checkNumbers(`the counts of "${name}"`, counts, bins, 'bins of the first row');
    checkNumber(`the mean of "${name}"`, mean);
    if (total(counts) > 0) continue;
    throw new InputError('out_of_range', {
      expected: `episodes in the counts of "${name}"`,
      got: 'none',
      remedy: 'Omit that row.',
    });
  }
}

const total = (counts: ArrayLike<number>): number =>
  Array.from(counts).reduce((sum, count) => sum + count, 0);

/** Returns the range and the share of episodes of each non-empty bin. */
function binsOf({ name, counts }: HistogramRow) {
  const episodes = total(counts);
  return Array.from(counts, (count, bin) => ({
    name,
    from: bin / counts.length,
    to: (bin + 1) / counts.length,
    share: count / episodes,
  })).filter(({ share }) => share > 0);
}

/** Returns the range of all bars, rounded outwards to tenths. */
function domainOf(rows: readonly HistogramRow[]): [number, number] {
  const bars = rows.flatMap(binsOf);
  const low = Math.min(...bars.map(({ from }) => from));
  const high = Math.max(...bars.map(({ to }) => to));
  // 1e-9 is subtracted, so that a rounding error does not add a tenth.
  return [Math.floor(low * 10) / 10, Math.ceil(high * 10 - 1e-9) / 10];
}

/** Returns the ticks of the axis: the tenths in its range. */
const tenthsOf = ([low, high]: readonly [number, number]): number[] =>
  Array.from({ length: Math.round((high - low) * 10) + 1 }, (_, k) => Math.round(low * 10 + k) / 10);

function barsOn(domain: [number, number], rows: readonly HistogramRow[]): Layer {
  const names = rows.map(({ name }) => name);
  const widest = widestOf(names);
  return {
    mark: { type: 'rect', opacity: 0.5, stroke: LIGHT.paper, strokeWidth: 0.5 },
    encoding: {
      x: {
        field: 'from',
        type: 'quantitative',
        scale: { domain, nice: false, zero: false },
        axis: { title: 'final score', grid: false, format: '.1f', values: tenthsOf(domain) },
      },
      x2: { field: 'to' },
      y: {
        field: 'share',
        type: 'quantitative',
        axis: { title: 'share of episodes', format: '.0%', tickCount: 4, domain: false, ticks: false },
      },
      y2: { datum: 0 },
      color: {
        field: 'name',
        type: 'nominal',
        sort: null,
        scale: { domain: names, range: [...coloursOf(rows)] },
        // Names of more than 200 pixels are listed one below the other.
        legend: { orient: 'top', offset: 6, columnPadding: 18, columns: widest > 200 ? 1 : names.length },
      },
    },
  };
}

const meanOf = ({ name, mean }: HistogramRow) => ({ name, mean });

const MEANS: Layer = {
  mark: { type: 'rule', strokeDash: [4, 3], strokeWidth: 1.5 },
  encoding: {
    x: { field: 'mean', type: 'quantitative' },
    color: { field: 'name', type: 'nominal' },
  },
};

/** Describes the picture for screen readers. */
export const histogramInWords = (rows: readonly HistogramRow[]): string => rows.map(inWords).join(' ');

/** Describes the mean and the middle 80 % of a row. */
function inWords({ name, counts, mean }: HistogramRow): string {
  const [low, high] = [0.1, 0.9].map((share) => decimal(binAt(counts, share), 2));
  return `${name}: mean ${decimal(mean, 3)}, middle 80 % from about ${low} to ${high}.`;
}

/** Returns the middle of the bin that contains a quantile. */
function binAt(counts: ArrayLike<number>, share: number): number {
  const rank = share * total(counts);
  let sum = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    sum += counts[bin];
    if (sum >= rank) return (bin + 0.5) / counts.length;
  }
  return 1;
}
