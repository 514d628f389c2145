/** Figure: contributions to each policy's final score, weight times component. */
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { type Caption, checkNames, checkNumbers, type Drawing, type Named } from './figure.js';
import {
  BAR_NAMES,
  COMPONENT_COLOURS,
  decimal,
  INK_ON_COLOUR,
  type Layer,
  LIGHT,
  SEMIBOLD,
  type TopView,
  widestOf,
} from './theme.js';

/** The data of the figure. */
export interface ComponentsPicture extends Caption {
  /** In order from the top. */
  readonly rows: readonly ComponentsRow[];
  /** Maximum width of the figure in pixels, but bars have at least 120. Default: bars have 560. */
  readonly maxWidth?: number;
}

/** The parts of one policy's final score. */
export interface ComponentsRow extends Named {
  /** By COMPONENT_NAMES: weight times mean component. A negative part lies left of 0. */
  readonly parts: ArrayLike<number>;
}

// The lengths are in pixels, and chosen by hand.

/** Widths of the bars: the default, and the smallest. */
const WIDTH = 560;
const MIN_WIDTH = 120;
const ROW_HEIGHT = 30;
/** The width of the smallest section that is labelled with its number. */
const MIN_NUMBERED = 27;
/** The sum of two widths: the gap after the names, and the numbers after the bars. */
const MARGIN = 64;
/** The width of a component in the legend. */
const LEGEND_COLUMN = 118;

/**
 * Draws a bar for each policy with a section for each component, and the sum beside it.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawComponents(picture: ComponentsPicture): Drawing {
  const { rows, title = 'Final scores by component', notes = [], maxWidth } = picture;
  checkNames('rows', rows);
  for (const { name, parts } of rows)
    checkNumbers(`the parts of "${name}"`, parts, NUM_COMPONENTS, 'components');
  const y = { ...BAR_NAMES, sort: rows.map(({ name }) => name) };
  const width = maxWidth === undefined ? WIDTH : widthIn(maxWidth, rows);
  const spec: TopView = {
    title: {
      text: title,
      subtitle: ['Weight times component. A final score is their sum, at least 0 and at most 1.', ...notes],
    },
    data: { values: rows.flatMap((row) => sectionsOf(row, MIN_NUMBERED * (rangeOf(rows) / width))) },
    width,
    height: { step: ROW_HEIGHT },
    encoding: { y },
    layer: [sectionsIn(columnsIn(width)), NUMBERS, { ...SUMS, data: { values: rows.map(sumOf) } }],
  };
  return { title, description: componentsInWords(rows), spec };
}

/** Returns the width of the bars. @param maxWidth the maximum width of the figure. */
function widthIn(maxWidth: number, rows: readonly ComponentsRow[]): number {
  const names = widestOf(rows.map(({ name }) => name));
  return Math.max(MIN_WIDTH, Math.floor(maxWidth - names - MARGIN));
}

/** Returns the sections of a bar. @param minNumbered the smallest part that is labelled with its number. */
const sectionsOf = ({ name, parts }: ComponentsRow, minNumbered: number) =>
  COMPONENT_NAMES.map((component, place) => ({
    name,
    component,
    place,
    part: parts[place],
    label: Math.abs(parts[place]) < minNumbered ? '' : decimal(parts[place], 2),
  }));

const total = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);

/** Returns where a bar begins and ends: the sums of its negative and of its positive parts. */
function endsOf({ parts }: ComponentsRow): { readonly start: number; readonly end: number } {
  const all = Array.from(parts);
  return { start: total(all.filter((part) => part < 0)), end: total(all.filter((part) => part > 0)) };
}

/** Returns the range of scores that the bars cover. The ends of the axis are rounded to ticks. */
const rangeOf = (rows: readonly ComponentsRow[]): number =>
  Math.max(...rows.map((row) => endsOf(row).end)) - Math.min(...rows.map((row) => endsOf(row).start));

/** Returns the sum of a bar. It is drawn beside the end of the positive parts. */
const sumOf = (row: ComponentsRow) => ({
  name: row.name,
  end: endsOf(row).end,
  sum: decimal(total(Array.from(row.parts)), 3),
});

const PART = { field: 'part', type: 'quantitative', stack: 'zero' } as const;
const ORDER = { field: 'place', type: 'ordinal' } as const;

/**
 * Returns the number of legend columns. The legend has as few lines as the width allows, and no more columns than they need.
 */
function columnsIn(width: number): number {
  const maxColumns = Math.max(1, Math.floor((width + MARGIN) / LEGEND_COLUMN));
  return Math.ceil(NUM_COMPONENTS / Math.ceil(NUM_COMPONENTS / maxColumns));
}

const sectionsIn = (columns: number): Layer => ({
  mark: { type: 'bar', stroke: LIGHT.paper, strokeWidth: 1 },
  encoding: {
    x: { ...PART, axis: { title: 'weight × component', tickCount: 8, grid: false, labelFlush: false } },
    order: ORDER,
    color: {
      field: 'component',
      type: 'nominal',
      sort: null,
      scale: { domain: [...COMPONENT_NAMES], range: [...COMPONENT_COLOURS] },
      legend: { orient: 'top', columns, offset: 12 },
    },
  },
});

const NUMBERS: Layer = {
  mark: { type: 'text', color: INK_ON_COLOUR },
  encoding: {
    x: { ...PART, bandPosition: 0.5 },
    order: ORDER,
    detail: { field: 'component', type: 'nominal' },
    text: { field: 'label', type: 'nominal' },
  },
};

const SUMS: Layer = {
  mark: { type: 'text', align: 'left', dx: 6, fontWeight: SEMIBOLD },
  encoding: {
    x: { field: 'end', type: 'quantitative' },
    text: { field: 'sum', type: 'nominal' },
  },
};

/** Describes the picture for screen readers. */
export const componentsInWords = (rows: readonly ComponentsRow[]): string => rows.map(inWords).join(' ');

/** Describes a row: "heuristic: 0.447, of which crash_free 0.150, ...". */
function inWords({ name, parts }: ComponentsRow): string {
  const contributions = COMPONENT_NAMES.map((component, k) => `${component} ${decimal(parts[k], 3)}`);
  return `${name}: ${decimal(total(Array.from(parts)), 3)}, of which ${contributions.join(', ')}.`;
}
