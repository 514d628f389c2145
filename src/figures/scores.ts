/** Figure: final scores by condition and policy, with intervals, beside published scores. */
import type { Interval } from '../shared/statistics.js';
import { type Caption, checkInterval, checkNames, checkNumber, type Drawing, type Named } from './figure.js';
import {
  ACCENT,
  COLOUR,
  colourOfPlayer,
  decimal,
  type Layer,
  NAME_AXIS,
  panelTitle,
  type TopView,
  type View,
} from './theme.js';

/** The score of one policy under one condition. */
export interface ScoreMark extends Named {
  /** Mean final score, 0 to 1, with its 95 % interval. */
  readonly score: Interval;
  /** The published score, if there is one. */
  readonly published?: number;
}

/** The data of the figure. */
export interface ScoresPicture extends Caption {
  /** Conditions in order from the top, each with its policies in order from the top. */
  readonly groups: readonly (Named & { readonly rows: readonly ScoreMark[] })[];
}

/** Sizes in pixels, chosen by hand like the other sizes of this file. */
const WIDTH = 420;
const ROW_HEIGHT = 22;
/** The space between panels, for an axis with its title and the name of the next panel. */
const GAP = 74;

/**
 * Draws a dot with its interval for each policy, and a diamond for a published score. All axes have the same range.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid groups or rows.
 */
export function drawScores(picture: ScoresPicture): Drawing {
  const { groups, title = 'Final scores', notes = [] } = picture;
  checkNames('groups', groups);
  for (const { name, rows } of groups) {
    checkNames(`rows of "${name}"`, rows);
    rows.forEach(checkScore);
  }
  const hasPublished = groups.some(({ rows }) => rows.some(({ published }) => published !== undefined));
  const diamonds = hasPublished ? " Diamonds: RhythmEnv's published scores." : '';
  const domain = domainOf(groups);
  const spec: TopView = {
    title: { text: title, subtitle: [`Means (dots) with 95 % intervals (bars).${diamonds}`, ...notes] },
    vconcat: groups.map((group) => panelOf(group, domain)),
    spacing: GAP,
    // Aligns the panels even if the names of their policies differ in length.
    bounds: 'flush',
  };
  return { title, description: groups.map(inWords).join(' '), spec };
}

function checkScore({ name, score, published }: ScoreMark): void {
  checkInterval(name, 'score', score);
  if (published !== undefined) checkNumber(`the published score of "${name}"`, published);
}

type Group = ScoresPicture['groups'][number];

/** Returns the range of every axis. It contains all values and ends at whole tenths. */
function domainOf(groups: readonly Group[]): [number, number] {
  const ends = groups.flatMap(({ rows }) =>
    rows.flatMap(({ score: { mean, low, high }, published }) => [
      low ?? mean,
      high ?? mean,
      published ?? mean,
    ]),
  );
  const tenths = (end: number, round: (value: number) => number) => round(end * 10) / 10;
  const low = tenths(Math.min(...ends), Math.floor);
  const high = tenths(Math.max(...ends), Math.ceil);
  return high > low ? [low, high] : [low, low + 0.1];
}

const pointOf = ({ name, score: { mean, low, high }, published }: ScoreMark) => ({
  name,
  mean,
  low: low ?? mean,
  high: high ?? mean,
  published: published ?? null,
  colour: colourOfPlayer(name),
  label: `${decimal(mean, 3)}${high === null ? '' : ` ±${decimal(high - mean, 3)}`}`,
});

function panelOf({ name, rows }: Group, domain: [number, number]): View {
  const x = (field: string) =>
    ({
      field,
      type: 'quantitative',
      scale: { domain, nice: false },
      axis: { title: 'final score', tickCount: 8, labelFlush: false, titlePadding: 2 },
    }) as const;
  const bars: Layer = {
    mark: { type: 'rule', strokeWidth: 7, opacity: 0.4 },
    encoding: { x: x('low'), x2: { field: 'high' }, color: COLOUR },
  };
  const dots: Layer = {
    mark: { type: 'point', filled: true, size: 32, opacity: 1 },
    encoding: { x: x('mean'), color: COLOUR },
  };
  const published: Layer = {
    transform: [{ filter: 'datum.published !== null' }],
    mark: { type: 'point', shape: 'diamond', color: ACCENT, size: 70, strokeWidth: 2, opacity: 1 },
    encoding: { x: x('published') },
  };
  return {
    title: panelTitle(name),
    width: WIDTH,
    height: { step: ROW_HEIGHT },
    data: { values: rows.map(pointOf) },
    encoding: { y: { ...NAMES, sort: rows.map((row) => row.name) } },
    layer: [bars, dots, published, NUMBERS],
  };
}

const NAMES = {
  field: 'name',
  type: 'nominal',
  axis: { ...NAME_AXIS, grid: true, labelPadding: 10 },
} as const;

const NUMBERS: Layer = {
  mark: { type: 'text', align: 'left', x: WIDTH + 14 },
  encoding: { text: { field: 'label', type: 'nominal' } },
};

const inWords = ({ name, rows }: Group): string => {
  const scores = rows.map((row) => {
    const published = row.published === undefined ? '' : `, published ${decimal(row.published, 3)}`;
    return `${row.name}: ${pointOf(row).label}${published}`;
  });
  return `${name}: ${scores.join('; ')}.`;
};
