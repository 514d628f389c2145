/** What players believe: how far off over the week, and whether it is true in the end. */
import { decimals, grouped } from '../../evaluate/figures.js';
import { type BeliefErrors, drawBeliefError } from '../../pictures/belief-error.js';
import { type Calibration, drawCalibration } from '../../pictures/calibration.js';
import { decimal } from '../../pictures/numbers.js';
import { BELIEF_NAMES, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';
import { RANGES } from '../calibrating.js';
import { figuresOf } from '../figures-of.js';
import type { ReportData } from '../gathered.js';
import { type Column, folded, type Html, paragraph, table } from '../html.js';
import { toldApart } from '../names.js';
import type { Figure, Section } from '../section.js';

interface ErrorRow {
  readonly name: string;
  readonly episodes: number;
  readonly errors: BeliefErrors;
}

/** Null where nobody gave a belief. */
export function beliefErrorSection(data: ReportData): Section | null {
  const rows = toldApart(data.players).flatMap(({ name, episodes, beliefErrors }) =>
    beliefErrors === null ? [] : [{ name, episodes, errors: beliefErrors }],
  );
  if (rows.length === 0) return null;
  return {
    id: 'belief-error',
    title: 'Belief error over the week',
    parts: [
      paragraph(
        'How far the belief is from the truth after each step, all conditions of a player together. A belief holds until ' +
          'another is given; before the first it counts as 0.5 each. Who believes 0.5 each all week is the dashed line, and in the table alone.',
      ),
      ...errorFigure(rows),
      table('Mean absolute belief error', ERROR_COLUMNS, rows),
    ],
  };
}

/** Without those that say 0.5 each all week: they are the dashed line. */
function errorFigure(rows: readonly ErrorRow[]): Figure[] {
  const infer = rows.filter(({ errors }) =>
    errors.mean.some((mean) => Math.abs(mean - errors.constant) > SAME),
  );
  return figuresOf('belief-error', infer, 12, (some) => drawBeliefError({ rows: some }));
}

const SAME = 1e-9;

const after = (days: number): Column<ErrorRow> => ({
  head: days === 1 ? 'after 1 day' : `after ${days} days`,
  cell: ({ errors }) => decimals(errors.mean[days * NUM_SLOTS - 1]),
});

const ERROR_COLUMNS: readonly Column<ErrorRow>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'after 1 step', cell: ({ errors }) => decimals(errors.mean[0]) },
  ...[1, 2, 4].map(after),
  {
    head: 'in the end (95 %)',
    cell: ({ errors: { mean, high } }) => {
      const [end, top] = [mean[NUM_STEPS - 1], high[NUM_STEPS - 1]];
      return top > end ? `${decimals(end)} ±${decimals(top - end)}` : decimals(end);
    },
  },
  { head: '0.5 each', cell: ({ errors }) => decimals(errors.constant) },
];

/** Null where nobody gave a belief. */
export function calibrationSection(data: ReportData): Section | null {
  const rows = toldApart(data.players).flatMap(({ name, calibration }) =>
    calibration === null ? [] : [{ name, dimensions: calibration }],
  );
  if (rows.length === 0) return null;
  return {
    id: 'calibration',
    title: 'Calibration of beliefs',
    parts: [
      paragraph(
        'The last belief of each week against what is true of the person: 0 hates company, is a night owl, avoids work; ' +
          '1 loves company, is a morning person, lives for work. Who says the same of everybody is in the tables alone.',
      ),
      ...calibrationFigure(rows),
      table('Calibration of last beliefs, by dimension', DIMENSION_COLUMNS, rows.flatMap(dimensionsOf)),
      folded('What was true, by ranges of what was said', rangesOf(rows)),
    ],
  };
}

/** Without those that say the same of everybody. */
function calibrationFigure(rows: readonly CalibratedRow[]): Figure[] {
  const tell = rows.filter(({ dimensions }) => dimensions.some(({ correlation }) => correlation !== null));
  return figuresOf('calibration', tell, 4, (some) => drawCalibration({ rows: some }));
}

interface CalibratedRow {
  readonly name: string;
  readonly dimensions: readonly Calibration[];
}

const dimensionsOf = ({ name, dimensions }: CalibratedRow) =>
  BELIEF_NAMES.map((dimension, k) => ({ name, dimension, ...dimensions[k] }));

const DIMENSION_COLUMNS: readonly Column<DimensionRow>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'dimension', cell: ({ dimension }) => dimension, numeric: false },
  { head: 'weeks', cell: ({ count }) => grouped(count) },
  { head: 'correlation', cell: ({ correlation }) => (correlation === null ? '–' : decimals(correlation)) },
  { head: 'MAE', cell: ({ mae }) => decimals(mae) },
];

type DimensionRow = ReturnType<typeof dimensionsOf>[number];

/** "0.26 (12)": what was true of the weeks in which so much was said, and how many they are. */
const truthOf = ({ bins }: DimensionRow, range: number): string => {
  const bin = bins.find((each) => each.range === range);
  return bin === undefined ? '–' : `${decimal(bin.truth, 2)} (${grouped(bin.count)})`;
};

const rangesOf = (rows: readonly CalibratedRow[]): Html =>
  table(
    'Mean of what was true where a last belief was in a range; in brackets the weeks',
    BIN_COLUMNS,
    rows.flatMap(dimensionsOf),
  );

const BIN_COLUMNS: readonly Column<DimensionRow>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'dimension', cell: ({ dimension }) => dimension, numeric: false },
  ...Array.from({ length: RANGES }, (_, range) => ({
    head: `${decimal(range / RANGES, 1)} to ${decimal((range + 1) / RANGES, 1)}`,
    cell: (row: DimensionRow) => truthOf(row, range),
  })),
];
