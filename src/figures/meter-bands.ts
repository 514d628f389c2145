/** Figure: percentile bands of the meters over many episodes. One panel for each policy and meter. */
import { METER_NAMES, NUM_METERS, NUM_STEPS } from '../world/fields.js';
import { RHYTHM } from '../world/numbers.js';
import { dayOf, HALF_LABELS, inDays, SECOND_HALF_SHADE } from './episode-axis.js';
import { type Bands, PERCENTILES } from './episode-means.js';
import { type Caption, checkNames, checkNumbers, type Drawing, type Named } from './figure.js';
import { decimal, type Layer, LIGHT, SEMIBOLD, SERIES, type TopView } from './theme.js';

/** The data of the figure. */
export interface BandsPicture extends Caption {
  /** The policies, in order. `bandsOf` computes the bands. */
  readonly rows: readonly (Named & { readonly bands: Bands })[];
  /**
   * The width to fill, in pixels. If the meters do not fit side by side, rows are meters and columns are policies; many
   * policies may need more width. Default: panels are 138 pixels wide.
   */
  readonly maxWidth?: number;
}

/** The default size of a panel, and the space between columns, in pixels. All sizes of this file are chosen by hand. */
const PANEL_WIDTH = 138;
const PANEL_HEIGHT = 78;
const SPACING = 16;
/** The largest height of a panel. The smallest is PANEL_HEIGHT. */
const MAX_HEIGHT = 110;
/** The width of the axis beside the panels. */
const MARGIN = 60;
/** The minimum width of a panel if the five meters are side by side. If less is available, rows are meters. */
const MIN_METER_WIDTH = 118;
/** The minimum width of a panel if rows are meters. */
const MIN_WIDTH = 80;
const MEDIAN_INDEX = PERCENTILES.indexOf(50);

/**
 * Draws medians with bands of the middle 50 % and 80 %, and shades the second half.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawBands(picture: BandsPicture): Drawing {
  const { rows, title = 'The meters over the week', notes = [], maxWidth } = picture;
  checkNames('rows', rows);
  for (const { name, bands } of rows) {
    checkNumbers(
      `the bands of "${name}"`,
      bands.values,
      NUM_VALUES,
      `${PERCENTILES.length} x 28 x ${NUM_METERS}`,
    );
  }
  const frame = frameIn(maxWidth, rows.length);
  const spec: TopView = {
    title: { text: title, subtitle: [...captionOf(rows), ...notes] },
    data: { values: rows.flatMap(pointsOf) },
    ...panelsOf(rows, frame),
    spec: {
      width: frame.width,
      height: frame.height,
      layer: [
        SECOND_HALF_SHADE,
        THRESHOLD,
        band('p10', 'p90', 0.25),
        band('p25', 'p75', 0.35),
        LINE,
        HALF_LABELS,
        ...(frame.transposed ? [] : [NAME]),
      ],
    },
  };
  return { title, description: bandsInWords(rows), spec };
}

interface Frame {
  /** Size of a panel in pixels. */
  readonly width: number;
  readonly height: number;
  /** Whether rows are meters and columns are policies. */
  readonly transposed: boolean;
}

/** Returns the panel size and arrangement that fit a width. Within limits, a panel is 0.56 times as high as wide. */
function frameIn(maxWidth: number | undefined, policies: number): Frame {
  if (maxWidth === undefined) return { width: PANEL_WIDTH, height: PANEL_HEIGHT, transposed: false };
  const panelWidth = (panels: number) => Math.floor((maxWidth - MARGIN - SPACING * (panels - 1)) / panels);
  const meterWidth = panelWidth(NUM_METERS);
  const transposed = meterWidth < MIN_METER_WIDTH;
  const width = transposed ? Math.max(MIN_WIDTH, panelWidth(policies)) : meterWidth;
  return {
    width,
    height: Math.round(Math.min(MAX_HEIGHT, Math.max(PANEL_HEIGHT, width * 0.56))),
    transposed,
  };
}

type Panels = Pick<Extract<TopView, { facet: unknown }>, 'facet' | 'bounds' | 'spacing'>;

function panelsOf(rows: BandsPicture['rows'], { transposed }: Frame): Panels {
  const names = rows.map(({ name }) => name);
  if (transposed) {
    return {
      facet: {
        row: {
          field: 'meter',
          sort: [...METER_NAMES],
          header: { title: null, orient: 'top', labelAnchor: 'start', labelPadding: 16 },
        },
        column: { field: 'name', sort: names, header: { title: null, labelPadding: 24 } },
      },
      spacing: { row: 40, column: SPACING },
    };
  }
  return {
    facet: {
      column: { field: 'meter', sort: [...METER_NAMES], header: { title: null, labelPadding: 44 } },
      row: { field: 'name', sort: names, header: { title: null, labels: false } },
    },
    // The layout ignores the width of names. A long name extends over the next panels.
    bounds: 'flush',
    spacing: { row: 58, column: SPACING },
  };
}

/** The number of values of the bands of one policy. */
const NUM_VALUES = PERCENTILES.length * NUM_STEPS * NUM_METERS;
const { crashThreshold } = RHYTHM.constants;

function captionOf(rows: BandsPicture['rows']): string[] {
  const counts = rows.map(({ bands }) => bands.episodes);
  const [min, max] = [Math.min(...counts), Math.max(...counts)].map((count) => count.toLocaleString('en'));
  const episodes = min === max ? max : `${min} to ${max}`;
  return [
    `Median (line), middle 50 % (inner band) and middle 80 % (outer band) after each step; episodes: ${episodes}.`,
    `Dashed: ${crashThreshold}, below which a meter counts as crashed. Shaded: the second half.`,
  ];
}

/** Returns a value of the bands. @param p the percentile's index in PERCENTILES. @param k the meter's code. */
const bandValue = (bands: Bands, p: number, step: number, k: number): number =>
  bands.values[(p * NUM_STEPS + step) * NUM_METERS + k];

const pointsOf = ({ name, bands }: BandsPicture['rows'][number]) =>
  METER_NAMES.flatMap((meter, k) =>
    Array.from({ length: NUM_STEPS }, (_, step) => {
      const values = PERCENTILES.map((percentile, p) => [`p${percentile}`, bandValue(bands, p, step, k)]);
      return { name, meter, step, day: dayOf(step + 1), ...Object.fromEntries(values) };
    }),
  );

const X = inDays('day');
const Y_SCALE = { domain: [0, 1] };
const Y_AXIS = { values: [0, 0.5, 1], title: 'meter', format: '.1f' };

const band = (low: string, high: string, opacity: number): Layer => ({
  mark: { type: 'area', color: SERIES, opacity },
  encoding: {
    x: X,
    y: { field: low, type: 'quantitative', scale: Y_SCALE, axis: Y_AXIS },
    y2: { field: high },
  },
});

const LINE: Layer = {
  mark: { type: 'line', color: SERIES, strokeWidth: 2 },
  encoding: { x: X, y: { field: 'p50', type: 'quantitative', scale: Y_SCALE, axis: Y_AXIS } },
};

const THRESHOLD: Layer = {
  data: { values: [{ value: crashThreshold }] },
  mark: { type: 'rule', color: LIGHT.muted, strokeDash: [3, 3] },
  encoding: { y: { field: 'value', type: 'quantitative', scale: Y_SCALE, axis: Y_AXIS } },
};

/** Draws names above the first panel of a row, because they may be wider than the margin. */
const NAME: Layer = {
  transform: [
    {
      filter: {
        and: [
          { field: 'meter', equal: METER_NAMES[0] },
          { field: 'step', equal: 0 },
        ],
      },
    },
  ],
  mark: { type: 'text', x: 0, y: -20, align: 'left', baseline: 'bottom', fontWeight: SEMIBOLD },
  encoding: { text: { field: 'name', type: 'nominal' } },
};

/** Describes the picture for screen readers. */
export const bandsInWords = (rows: BandsPicture['rows']): string => rows.map(inWords).join(' ');

/** Describes the medians of a row after the last step. */
function inWords({ name, bands }: BandsPicture['rows'][number]): string {
  const ends = METER_NAMES.map(
    (meter, k) => `${meter} ${decimal(bandValue(bands, MEDIAN_INDEX, NUM_STEPS - 1, k), 2)}`,
  );
  return `${name}: medians at the end of the week ${ends.join(', ')}.`;
}
