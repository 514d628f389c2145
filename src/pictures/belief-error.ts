/** How far beliefs are from the truth, step by step: a panel a player. */
import { NUM_STEPS } from '../world/fields.js';
import { checkNames, checkNumber, checkNumbers, type Named } from './check.js';
import type { Caption, Drawing } from './drawing.js';
import { decimal } from './numbers.js';
import { widestOf } from './text-width.js';
import { ACCENT, SERIES } from './theme.js';
import type { Layer, TopView } from './view.js';
import { dayOf, inDays } from './week.js';

export interface BeliefErrors {
  /** [28] each: the mean over weeks after each step, and the bounds of its 95 % interval, which are the mean where none is known. */
  readonly mean: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** What believing 0.5 each would be off by, in the same weeks. */
  readonly constant: number;
}

export interface BeliefErrorPicture extends Caption {
  /** From the top left. */
  readonly rows: readonly (Named & { readonly errors: BeliefErrors })[];
}

type Row = BeliefErrorPicture['rows'][number];

const LEAST_WIDTH = 230;
const PANEL_HEIGHT = 120;
const COLUMNS = 3;

/**
 * The mean (line) with its interval (band), and the constant belief's error (dashed).
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for rows that are none.
 */
export function drawBeliefError(picture: BeliefErrorPicture): Drawing {
  const { rows, title = 'Belief error over the week', notes = [] } = picture;
  checkNames('rows', rows);
  rows.forEach(checkErrors);
  const width = Math.max(LEAST_WIDTH, widestOf(rows.map(({ name }) => name)));
  const caption = [
    'Mean absolute error of social, morning and work after each step (line) with its 95 % interval (band).',
    'Dashed: the error of believing 0.5 each, in the same weeks.',
  ];
  const spec: TopView = {
    title: { text: title, subtitle: [...caption, ...notes] },
    data: { values: rows.flatMap(pointsOf) },
    facet: {
      field: 'name',
      sort: rows.map(({ name }) => name),
      header: { title: null, labelAnchor: 'start' },
    },
    columns: Math.min(COLUMNS, rows.length),
    spacing: { row: 18, column: 26 },
    spec: { width, height: PANEL_HEIGHT, layer: [BAND, CONSTANT, LINE] },
    // Else the last row's empty places have axes, and panels above them none.
    resolve: { axis: { x: 'independent' } },
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

function checkErrors({ name, errors }: Row): void {
  for (const key of ['mean', 'low', 'high'] as const) {
    checkNumbers(`the ${key} errors of "${name}"`, errors[key], NUM_STEPS, 'steps of a week');
  }
  checkNumber(`the constant's error of "${name}"`, errors.constant);
}

const pointsOf = ({ name, errors: { mean, low, high, constant } }: Row) =>
  Array.from({ length: NUM_STEPS }, (_, step) => ({
    name,
    day: dayOf(step + 1),
    mean: mean[step],
    low: low[step],
    high: high[step],
    constant,
  }));

const error = (field: string) =>
  ({
    field,
    type: 'quantitative',
    scale: { zero: true },
    axis: { title: 'mean absolute error', tickCount: 5 },
  }) as const;

const X = inDays('day');

const BAND: Layer = {
  mark: { type: 'area', color: SERIES, opacity: 0.3 },
  encoding: { x: X, y: error('low'), y2: { field: 'high' } },
};

const CONSTANT: Layer = {
  mark: { type: 'line', color: ACCENT, strokeDash: [5, 3], strokeWidth: 1.5 },
  encoding: { x: X, y: error('constant') },
};

const LINE: Layer = {
  mark: { type: 'line', color: SERIES, strokeWidth: 2 },
  encoding: { x: X, y: error('mean') },
};

const inWords = ({ name, errors: { mean, constant } }: Row): string =>
  `${name}: ${decimal(mean[0], 3)} after the first step, ${decimal(mean[NUM_STEPS - 1], 3)} after the last; 0.5 each: ${decimal(constant, 3)}.`;
