/** Figure: the mean absolute error of beliefs by step. One panel for each player. */
import { NUM_STEPS } from '../world/fields.js';
import { dayOf, inDays } from './episode-axis.js';
import { type Caption, checkNames, checkNumber, checkNumbers, type Drawing, type Named } from './figure.js';
import { ACCENT, COLOUR, colourOfPlayer, decimal, type Layer, type TopView, widestOf } from './theme.js';

/** The belief errors of one player. */
export interface BeliefErrors {
  /** [28]: the mean over episodes after each step. */
  readonly mean: readonly number[];
  /** [28] each: the bounds of the mean's 95 % interval, equal to the mean if there is no interval. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The error of the belief [0.5, 0.5, 0.5] in the same episodes. */
  readonly constant: number;
}

/** The data of the figure. */
export interface BeliefErrorPicture extends Caption {
  /** In the order of the panels, from the top left. */
  readonly rows: readonly (Named & { readonly errors: BeliefErrors })[];
}

type Row = BeliefErrorPicture['rows'][number];

/** The minimum width of a panel, and its height, in pixels. Chosen by hand. */
const MIN_WIDTH = 230;
const PANEL_HEIGHT = 120;
/** The largest number of panels side by side. Chosen by hand. */
const COLUMNS = 3;

/**
 * Draws the mean (line) with its interval (band), and the error of the constant belief (dashed).
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawBeliefError(picture: BeliefErrorPicture): Drawing {
  const { rows, title = 'Belief error over the week', notes = [] } = picture;
  checkNames('rows', rows);
  rows.forEach(checkErrors);
  const width = Math.max(MIN_WIDTH, widestOf(rows.map(({ name }) => name)));
  const caption = [
    'Mean absolute error of social, morning and work after each step (line) with its 95 % interval (band).',
    'Dashed: the error of the constant belief 0.5 in the same episodes.',
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
    // Draws an x axis below each panel. A shared axis would be only below the last row, which may lack panels.
    resolve: { axis: { x: 'independent' } },
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

function checkErrors({ name, errors }: Row): void {
  for (const key of ['mean', 'low', 'high'] as const) {
    checkNumbers(`the ${key} errors of "${name}"`, errors[key], NUM_STEPS, 'steps of an episode');
  }
  checkNumber(`the error of the constant belief of "${name}"`, errors.constant);
}

const pointsOf = ({ name, errors: { mean, low, high, constant } }: Row) =>
  Array.from({ length: NUM_STEPS }, (_, step) => ({
    name,
    day: dayOf(step + 1),
    mean: mean[step],
    low: low[step],
    high: high[step],
    constant,
    colour: colourOfPlayer(name),
  }));

/** Returns a y channel for errors. */
const errorChannel = (field: string) =>
  ({
    field,
    type: 'quantitative',
    scale: { zero: true },
    axis: { title: 'mean absolute error', tickCount: 5 },
  }) as const;

const X = inDays('day');

const BAND: Layer = {
  mark: { type: 'area', opacity: 0.3 },
  encoding: { x: X, y: errorChannel('low'), y2: { field: 'high' }, color: COLOUR },
};

const CONSTANT: Layer = {
  mark: { type: 'line', color: ACCENT, strokeDash: [5, 3], strokeWidth: 1.5 },
  encoding: { x: X, y: errorChannel('constant') },
};

const LINE: Layer = {
  mark: { type: 'line', strokeWidth: 2 },
  encoding: { x: X, y: errorChannel('mean'), color: COLOUR },
};

const inWords = ({ name, errors: { mean, constant } }: Row): string =>
  `${name}: ${decimal(mean[0], 3)} after the first step, ${decimal(mean[NUM_STEPS - 1], 3)} after the last; constant belief: ${decimal(constant, 3)}.`;
