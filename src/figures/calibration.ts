/** Figure: stated beliefs against belief targets. One row for each player, one column for each dimension of BELIEF_NAMES. */
import { BELIEF_NAMES } from '../world/fields.js';
import { type Caption, checkNames, checkNumber, type Drawing, type Named } from './figure.js';
import { ACCENT, decimal, type Layer, LIGHT, SEMIBOLD, SERIES, type TopView } from './theme.js';

/** Beliefs in one range, and their targets. */
export interface CalibrationBin {
  /** The index of the range: 0 is [0, 0.1). */
  readonly range: number;
  /** The mean belief, 0 to 1. */
  readonly belief: number;
  /** The mean belief target, 0 to 1. */
  readonly target: number;
  /** The number of episodes. */
  readonly count: number;
}

/** The calibration of one dimension of the beliefs of a player. */
export interface Calibration {
  /** The ranges with at least one episode. */
  readonly bins: readonly CalibrationBin[];
  /** The number of episodes. */
  readonly count: number;
  /** Pearson's correlation of beliefs and targets over episodes; null if one of them is constant. */
  readonly correlation: number | null;
  /** The mean absolute error of the beliefs. */
  readonly mae: number;
}

/** The data of the figure. */
export interface CalibrationPicture extends Caption {
  /** In order from the top. `dimensions` is [3] by BELIEF_NAMES. */
  readonly rows: readonly (Named & { readonly dimensions: readonly Calibration[] })[];
}

type Row = CalibrationPicture['rows'][number];

/** The width and the height of a panel in pixels. */
const SIZE = 170;

/**
 * Draws a dot for each range of beliefs, larger for more episodes. The dots of calibrated beliefs lie on the diagonal.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawCalibration(picture: CalibrationPicture): Drawing {
  const { rows, title = 'Calibration of beliefs', notes = [] } = picture;
  checkNames('rows', rows);
  rows.forEach(checkCalibration);
  const caption = [
    'Last beliefs of episodes, in ranges of 0.1: mean belief and mean target. A larger dot has more episodes.',
    'Dashed: the belief equals the target. r is the correlation over episodes, MAE the mean absolute error.',
  ];
  const spec: TopView = {
    title: { text: title, subtitle: [...caption, ...notes] },
    data: { values: rows.flatMap(pointsOf) },
    facet: {
      column: { field: 'dimension', sort: [...BELIEF_NAMES], header: { title: null, labelPadding: 46 } },
      row: { field: 'name', sort: rows.map(({ name }) => name), header: { title: null, labels: false } },
    },
    bounds: 'flush',
    spacing: { row: 92, column: 36 },
    spec: { width: SIZE, height: SIZE, layer: [DIAGONAL, DOTS, STATISTICS, NAME] },
    resolve: { axis: { x: 'independent' } },
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

function checkCalibration({ name, dimensions }: Row): void {
  for (const [k, dimension] of BELIEF_NAMES.entries()) {
    const { bins, mae } = dimensions[k];
    checkNumber(`the ${dimension} error of "${name}"`, mae);
    for (const { belief, target, count } of bins) {
      for (const value of [belief, target, count]) checkNumber(`a ${dimension} range of "${name}"`, value);
    }
  }
}

const pointsOf = ({ name, dimensions }: Row) =>
  BELIEF_NAMES.flatMap((dimension, k) => [
    ...dimensions[k].bins.map((bin) => ({ kind: 'bin', name, dimension, ...bin })),
    { kind: 'statistics', name, dimension, first: k === 0, statistics: statisticsOf(dimensions[k]) },
  ]);

const statisticsOf = ({ correlation, mae, count }: Calibration): string =>
  `r ${correlation === null ? '–' : decimal(correlation, 2)}, MAE ${decimal(mae, 3)}, ${count.toLocaleString('en')} episodes`;

/** Returns a channel with the domain [0, 1]. */
const unitChannel = (field: string, title: string) => {
  const values = [0, 0.5, 1];
  const domain = [0, 1];
  return { field, type: 'quantitative', scale: { domain }, axis: { title, values, format: '.1f' } } as const;
};
const X = unitChannel('belief', 'last belief');
const Y = unitChannel('target', 'target');

const DIAGONAL: Layer = {
  data: {
    values: [
      { belief: 0, target: 0 },
      { belief: 1, target: 1 },
    ],
  },
  mark: { type: 'line', color: ACCENT, strokeDash: [5, 3], strokeWidth: 1.5 },
  encoding: { x: X, y: Y },
};

const DOTS: Layer = {
  transform: [{ filter: { field: 'kind', equal: 'bin' } }],
  mark: { type: 'point', filled: true, color: SERIES, opacity: 0.8 },
  encoding: {
    x: X,
    y: Y,
    size: { field: 'count', type: 'quantitative', scale: { type: 'sqrt', range: [12, 220] }, legend: null },
  },
};

const STATISTICS: Layer = {
  transform: [{ filter: { field: 'kind', equal: 'statistics' } }],
  mark: { type: 'text', x: 0, y: -6, align: 'left', baseline: 'bottom', fontSize: 10, color: LIGHT.muted },
  encoding: { text: { field: 'statistics', type: 'nominal' } },
};

/** Draws names above the first panel of a row, because they may be wider than the margin. */
const NAME: Layer = {
  transform: [{ filter: { field: 'first', equal: true } }],
  mark: { type: 'text', x: 0, y: -24, align: 'left', baseline: 'bottom', fontWeight: SEMIBOLD },
  encoding: { text: { field: 'name', type: 'nominal' } },
};

const inWords = ({ name, dimensions }: Row): string =>
  `${name}: ${BELIEF_NAMES.map((belief, k) => `${belief} ${statisticsOf(dimensions[k])}`).join('; ')}.`;
