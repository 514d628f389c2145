/** Figure: contributions to each policy's final score, weight times component. */
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { checkNames, checkNumbers, type Named } from './check-figure.js';
import type { Caption, Drawing } from './figure.js';
import { decimal } from './numbers.js';
import { widestOf } from './text-width.js';
import { COMPONENT_COLOURS, INK_ON_COLOUR, LIGHT, NAME_AXIS, SEMIBOLD } from './theme.js';
import type { Layer, TopView } from './view.js';

export interface ComponentsPicture extends Caption {
  /** In order from the top. */
  readonly rows: readonly ComponentsRow[];
  /** Maximum width in pixels. Default: bars of 560, plus the names. */
  readonly maxWidth?: number;
}

export interface ComponentsRow extends Named {
  /** [6], by COMPONENT_NAMES: weight times mean component. The sum is the score. */
  readonly parts: ArrayLike<number>;
}

const WIDTH = 560;
const ROW_HEIGHT = 30;
/** The smallest part that is labelled with its number, if bars are WIDTH wide. */
const MIN_NUMBERED = 0.03;
/** The width of the sums and gaps beside names and bars. */
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
  const y = { ...NAMES, sort: rows.map(({ name }) => name) };
  const width = maxWidth === undefined ? WIDTH : widthIn(maxWidth, rows);
  const spec: TopView = {
    title: { text: title, subtitle: ['Weight times component; their sum is the final score.', ...notes] },
    data: { values: rows.flatMap((row) => sectionsOf(row, MIN_NUMBERED * (WIDTH / width))) },
    width,
    height: { step: ROW_HEIGHT },
    encoding: { y },
    layer: [
      sectionsIn(maxWidth === undefined ? NUM_COMPONENTS : columnsIn(width)),
      NUMBERS,
      { ...SUMS, data: { values: rows.map(sumOf) } },
    ],
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

/** Returns the width of the bars. @param maxWidth the maximum width of the figure. */
function widthIn(maxWidth: number, rows: readonly ComponentsRow[]): number {
  const names = widestOf(rows.map(({ name }) => name));
  return Math.max(120, Math.floor(maxWidth - names - MARGIN));
}

/** Returns the sections of a bar. @param minNumbered the smallest part that is labelled with its number. */
const sectionsOf = ({ name, parts }: ComponentsRow, minNumbered: number) =>
  COMPONENT_NAMES.map((component, place) => ({
    name,
    component,
    place,
    part: parts[place],
    number: Math.abs(parts[place]) < minNumbered ? '' : decimal(parts[place], 2),
  }));

const total = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);

/** Returns the sum of a bar. It is drawn beside the end of the positive parts. */
function sumOf({ name, parts }: ComponentsRow) {
  const all = Array.from(parts);
  return { name, end: total(all.filter((part) => part > 0)), sum: decimal(total(all), 3) };
}

const NAMES = {
  field: 'name',
  type: 'nominal',
  axis: { ...NAME_AXIS, labelPadding: 8 },
  // The padding of each row, half above and half below, is within ROW_HEIGHT.
  scale: { paddingInner: 0.25, paddingOuter: 0.125 },
} as const;

const PART = { field: 'part', type: 'quantitative', stack: 'zero' } as const;
const ORDER = { field: 'place', type: 'ordinal' } as const;

/** Returns the number of columns of the legend. */
const columnsIn = (width: number): number =>
  Math.min(NUM_COMPONENTS, Math.max(1, Math.floor((width + MARGIN) / LEGEND_COLUMN)));

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
    text: { field: 'number', type: 'nominal' },
  },
};

const SUMS: Layer = {
  mark: { type: 'text', align: 'left', dx: 6, fontWeight: SEMIBOLD },
  encoding: {
    x: { field: 'end', type: 'quantitative' },
    text: { field: 'sum', type: 'nominal' },
  },
};

/** Describes a row: "heuristic: 0.447, of which crash_free 0.150, ..." */
function inWords({ name, parts }: ComponentsRow): string {
  const contributions = COMPONENT_NAMES.map((component, k) => `${component} ${decimal(parts[k], 3)}`);
  return `${name}: ${decimal(total(Array.from(parts)), 3)}, of which ${contributions.join(', ')}.`;
}
