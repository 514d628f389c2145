/** Two sections: the error of beliefs over the episode, and the calibration of the last beliefs. */
import { decimals, grouped } from '../../evaluation/format-results.js';
import { type BeliefErrors, drawBeliefError } from '../../figures/belief-error.js';
import { type Calibration, drawCalibration } from '../../figures/calibration.js';
import { decimal } from '../../figures/theme.js';
import { BELIEF_NAMES, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';
import { disambiguated } from '../player-names.js';
import type { ReportData } from '../result-gatherer.js';
import {
  type Column,
  collapsible,
  type Figure,
  type Html,
  paginateFigures,
  paragraph,
  type Section,
  table,
} from '../section.js';
import { RANGES } from '../tallies.js';

/** The largest numbers of players in a figure that fits a printed page. */
const MAX_ERROR_PLAYERS = 12;
const MAX_CALIBRATION_PLAYERS = 4;

interface ErrorRow {
  readonly name: string;
  readonly episodes: number;
  readonly errors: BeliefErrors;
}

/** Returns the section on belief errors; null if no belief was stated. */
export function beliefErrorSection(data: ReportData): Section | null {
  const rows = disambiguated(data.players).flatMap(({ name, episodes, beliefErrors }) =>
    beliefErrors === null ? [] : [{ name, episodes, errors: beliefErrors }],
  );
  if (rows.length === 0) return null;
  return {
    id: 'belief-error',
    title: 'Belief error over the week',
    parts: [
      paragraph(
        'The mean absolute error of the belief after each step, over all conditions of a player. A belief holds until the ' +
          'player states another. Before the first, the belief counts as 0.5 in each dimension. The dashed line is the error ' +
          'of this constant belief. Players that always state it are only in the table.',
      ),
      ...errorFigures(rows),
      table('Mean absolute belief error', ERROR_COLUMNS, rows),
    ],
  };
}

/** Returns the figures. Omits players with the constant belief 0.5 in each dimension, which is the dashed line. */
function errorFigures(rows: readonly ErrorRow[]): Figure[] {
  const drawnRows = rows.filter(({ errors }) =>
    errors.mean.some((mean) => Math.abs(mean - errors.constant) > TOLERANCE),
  );
  return paginateFigures('belief-error', drawnRows, MAX_ERROR_PLAYERS, (subset) =>
    drawBeliefError({ rows: subset }),
  );
}

/** Two means that differ by less are equal up to rounding. */
const TOLERANCE = 1e-9;

const columnAfter = (days: number): Column<ErrorRow> => ({
  head: days === 1 ? 'after 1 day' : `after ${days} days`,
  cell: ({ errors }) => decimals(errors.mean[days * NUM_SLOTS - 1]),
});

const ERROR_COLUMNS: readonly Column<ErrorRow>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  { head: 'after 1 step', cell: ({ errors }) => decimals(errors.mean[0]) },
  ...[1, 2, 4].map(columnAfter),
  {
    head: 'at the end (95 %)',
    cell: ({ errors: { mean, high } }) => {
      const [end, top] = [mean[NUM_STEPS - 1], high[NUM_STEPS - 1]];
      return top > end ? `${decimals(end)} ±${decimals(top - end)}` : decimals(end);
    },
  },
  { head: '0.5 each', cell: ({ errors }) => decimals(errors.constant) },
];

/** Returns the section on calibration; null if no belief was stated. */
export function calibrationSection(data: ReportData): Section | null {
  const rows = disambiguated(data.players).flatMap(({ name, calibration }) =>
    calibration === null ? [] : [{ name, dimensions: calibration }],
  );
  if (rows.length === 0) return null;
  return {
    id: 'calibration',
    title: 'Calibration of beliefs',
    parts: [
      paragraph(
        'The last belief of each episode compared with the belief target, in three dimensions: social (0 hates company, 1 loves ' +
          'company), morning (0 is a night owl, 1 is a morning person) and work (0 avoids work, 1 lives for work). Players with ' +
          'the same belief or the same target in every episode are only in the tables.',
      ),
      ...calibrationFigures(rows),
      table('Calibration of last beliefs, by dimension', DIMENSION_COLUMNS, rows.flatMap(dimensionsOf)),
      collapsible('Mean targets by range of the last belief', rangesOf(rows)),
    ],
  };
}

/** Returns the figures. Omits players with the same belief or target in every episode: their correlation is undefined. */
function calibrationFigures(rows: readonly CalibratedRow[]): Figure[] {
  const drawnRows = rows.filter(({ dimensions }) =>
    dimensions.some(({ correlation }) => correlation !== null),
  );
  return paginateFigures('calibration', drawnRows, MAX_CALIBRATION_PLAYERS, (subset) =>
    drawCalibration({ rows: subset }),
  );
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
  { head: 'episodes', cell: ({ count }) => grouped(count) },
  { head: 'correlation', cell: ({ correlation }) => (correlation === null ? '–' : decimals(correlation)) },
  { head: 'MAE', cell: ({ mae }) => decimals(mae) },
];

type DimensionRow = ReturnType<typeof dimensionsOf>[number];

/** Returns "0.26 (12)": the mean target of the episodes in a range of beliefs, and their number. */
const targetText = ({ bins }: DimensionRow, range: number): string => {
  const bin = bins.find((candidate) => candidate.range === range);
  return bin === undefined ? '–' : `${decimal(bin.target, 2)} (${grouped(bin.count)})`;
};

const rangesOf = (rows: readonly CalibratedRow[]): Html =>
  table(
    'Mean target by range of the last belief; in brackets the number of episodes',
    BIN_COLUMNS,
    rows.flatMap(dimensionsOf),
  );

const BIN_COLUMNS: readonly Column<DimensionRow>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'dimension', cell: ({ dimension }) => dimension, numeric: false },
  ...Array.from({ length: RANGES }, (_, range) => ({
    head: `${decimal(range / RANGES, 1)} to ${decimal((range + 1) / RANGES, 1)}`,
    cell: (row: DimensionRow) => targetText(row, range),
  })),
];
