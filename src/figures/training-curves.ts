/** Figure: curves of a training over its progress, such as the loss by epoch. One panel for each curve. */
import { type Caption, checkNames, checkNumber, type Drawing, type Named } from './figure.js';
import { decimal, type Layer, SERIES, type TopView, type View } from './theme.js';

/** One curve. */
export interface Curve extends Named {
  /** What x counts, such as "epochs". */
  readonly unit: string;
  readonly points: readonly CurvePoint[];
}

/** A point of a curve. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
  /** The interval of y. Either all points of a curve have an interval, or none has. */
  readonly low?: number;
  readonly high?: number;
}

/** The data of the figure. */
export interface TrainingCurvesPicture extends Caption {
  /** In the order of the panels, two per row. */
  readonly curves: readonly Curve[];
}

/** The size of a panel in pixels, chosen by hand. */
const SIZE = { width: 260, height: 150 };

/**
 * Draws each curve in a panel with its own axes, and its intervals as a band.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid curves.
 */
export function drawTrainingCurves(picture: TrainingCurvesPicture): Drawing {
  const { curves, title = 'Training', notes = [] } = picture;
  checkNames('curves', curves);
  curves.forEach(checkCurve);
  const spec: TopView = {
    title: { text: title, subtitle: [...notes] },
    concat: curves.map(panelOf),
    columns: 2,
    spacing: { row: 28, column: 36 },
  };
  return { title, description: curves.map(inWords).join(' '), spec };
}

function checkCurve({ name, points }: Curve): void {
  // Refuses a curve without points.
  checkNames(
    `the points of "${name}"`,
    Array.isArray(points) ? points.map((_, k) => ({ name: String(k) })) : (points as never),
  );
  for (const { x, y, low = y, high = y } of points)
    for (const value of [x, y, low, high]) checkNumber(`a point of "${name}"`, value);
}

/** The y axis of a panel. */
const AXIS = { type: 'quantitative', scale: { zero: false }, axis: { title: null, tickCount: 5 } } as const;

const BAND: Layer = {
  mark: { type: 'area', color: SERIES, opacity: 0.25 },
  encoding: { y: { field: 'low', ...AXIS }, y2: { field: 'high' } },
};

const panelOf = ({ name, unit, points }: Curve): View => ({
  title: { text: name, fontSize: 12, offset: 8 },
  ...SIZE,
  data: { values: [...points] },
  encoding: {
    x: { field: 'x', type: 'quantitative', scale: { zero: true }, axis: { title: unit, tickCount: 5 } },
  },
  layer: [
    ...(points[0].low === undefined ? [] : [BAND]),
    {
      mark: { type: 'line', color: SERIES, strokeWidth: 2, point: points.length === 1 },
      encoding: { y: { field: 'y', ...AXIS } },
    },
  ],
});

const inWords = ({ name, unit, points }: Curve): string =>
  `${name}: ${decimal(points[0].y, 3)} at first, ${decimal(points[points.length - 1].y, 3)} after ` +
  `${points[points.length - 1].x.toLocaleString('en')} ${unit}.`;
