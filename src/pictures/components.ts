/** What each policy's final score is made of: weight times component. */
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';
import { checkNames, checkNumbers, type Named } from './check.js';
import type { Caption, Drawing } from './drawing.js';
import { decimal } from './numbers.js';
import { widestOf } from './text-width.js';
import { COMPONENT_COLOURS, INK_ON_COLOUR, LIGHT, NAME_AXIS, SEMIBOLD } from './theme.js';
import type { Layer, TopView } from './view.js';

export interface ComponentsPicture extends Caption {
  /** From the top. */
  readonly rows: readonly ComponentsRow[];
  /** How wide the picture may be, in pixels. Default: bars of 560, and what names take. */
  readonly room?: number;
}

export interface ComponentsRow extends Named {
  /** [6], in the order of COMPONENT_NAMES: the grader's weight times the mean component. Their sum is the score. */
  readonly parts: ArrayLike<number>;
}

const WIDTH = 560;
const ROW_HEIGHT = 30;
/** A smaller part has no room for its number where bars are WIDTH wide. */
const LEAST_NUMBERED = 0.03;
/** What stands beside names and bars: the sum, and what lies between. */
const MARGIN = 64;
/** What the legend takes for a component. */
const LEGEND_COLUMN = 118;

/**
 * A bar a policy, a section a component, the sum beside.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for rows that are none.
 */
export function drawComponents(picture: ComponentsPicture): Drawing {
  const { rows, title = 'What the final scores are made of', notes = [], room } = picture;
  checkNames('rows', rows);
  for (const { name, parts } of rows)
    checkNumbers(`the parts of "${name}"`, parts, NUM_COMPONENTS, 'components');
  const y = { ...NAMES, sort: rows.map(({ name }) => name) };
  const width = room === undefined ? WIDTH : widthIn(room, rows);
  const spec: TopView = {
    title: { text: title, subtitle: ['Weight times component; their sum is the final score.', ...notes] },
    data: { values: rows.flatMap((row) => sectionsOf(row, LEAST_NUMBERED * (WIDTH / width))) },
    width,
    height: { step: ROW_HEIGHT },
    encoding: { y },
    layer: [
      sectionsIn(room === undefined ? NUM_COMPONENTS : columnsIn(width)),
      NUMBERS,
      { ...SUMS, data: { values: rows.map(sumOf) } },
    ],
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

/** What is left for bars. */
function widthIn(room: number, rows: readonly ComponentsRow[]): number {
  const names = widestOf(rows.map(({ name }) => name));
  return Math.max(120, Math.floor(room - names - MARGIN));
}

/** @param least a smaller part has no number. */
const sectionsOf = ({ name, parts }: ComponentsRow, least: number) =>
  COMPONENT_NAMES.map((component, place) => ({
    name,
    component,
    place,
    part: parts[place],
    number: Math.abs(parts[place]) < least ? '' : decimal(parts[place], 2),
  }));

const total = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);

/** Stands beside the bar: where what is positive ends. */
function sumOf({ name, parts }: ComponentsRow) {
  const all = Array.from(parts);
  return { name, end: total(all.filter((part) => part > 0)), sum: decimal(total(all), 3) };
}

const NAMES = {
  field: 'name',
  type: 'nominal',
  axis: { ...NAME_AXIS, labelPadding: 8 },
  // Half the inner padding at the ends makes a row a whole number of units.
  scale: { paddingInner: 0.25, paddingOuter: 0.125 },
} as const;

const PART = { field: 'part', type: 'quantitative', stack: 'zero' } as const;
const ORDER = { field: 'place', type: 'ordinal' } as const;

/** Of the legend, which stands above the bars. */
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

/** "heuristic: 0.447, of which crash_free 0.150, ..." */
function inWords({ name, parts }: ComponentsRow): string {
  const each = COMPONENT_NAMES.map((component, k) => `${component} ${decimal(parts[k], 3)}`);
  return `${name}: ${decimal(total(Array.from(parts)), 3)}, of which ${each.join(', ')}.`;
}
