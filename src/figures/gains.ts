/** Figure: each policy's gain over a baseline, with intervals. */
import type { Interval } from '../shared/statistics.js';
import { type Caption, checkInterval, checkNames, type Drawing, type Named } from './figure.js';
import { decimal, type Layer, LIGHT, NAME_AXIS, SERIES, signed, type TopView } from './theme.js';

/** The data of the figure. */
export interface GainPicture extends Caption {
  /** The policy that the gains are relative to. */
  readonly baseline: string;
  /** Differences of final scores with their 95 % intervals, in any order: the figure sorts them. */
  readonly rows: readonly (Named & { readonly gain: Interval })[];
}

type Row = GainPicture['rows'][number];

/** Sizes in pixels. */
const WIDTH = 420;
const ROW_HEIGHT = 26;

/**
 * Draws a dot and its interval for each row, the largest gain first.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawGains(picture: GainPicture): Drawing {
  const { baseline, title = 'Gain of each policy', notes = [] } = picture;
  checkNames('rows', picture.rows);
  for (const { name, gain } of picture.rows) checkInterval(name, 'gain', gain);
  const rows = [...picture.rows].sort((a, b) => b.gain.mean - a.gain.mean);
  const spec: TopView = {
    title: {
      text: title,
      subtitle: [`Final score minus that of ${baseline}, with 95 % intervals.`, ...notes],
    },
    data: { values: rows.map(pointOf) },
    width: WIDTH,
    height: { step: ROW_HEIGHT },
    layer: [
      ZERO,
      {
        encoding: { y: { ...NAMES, sort: rows.map(({ name }) => name) } },
        layer: [INTERVALS, DOTS, NUMBERS],
      },
    ],
  };
  return { title, description: rows.map((row) => inWords(row, baseline)).join(' '), spec };
}

const pointOf = ({ name, gain: { mean, low, high } }: Row) => ({
  name,
  mean,
  low: low ?? mean,
  high: high ?? mean,
  label: signed(mean, 3) + (low === null || high === null ? '' : ` [${signed(low, 3)}, ${signed(high, 3)}]`),
});

const NAMES = {
  field: 'name',
  type: 'nominal',
  axis: { ...NAME_AXIS, labelPadding: 10 },
} as const;
/** Returns an x channel for gains. */
const gainChannel = (field: string) =>
  ({
    field,
    type: 'quantitative',
    axis: { title: 'difference in final score', tickCount: 8, labelFlush: false },
  }) as const;

const ZERO: Layer = {
  data: { values: [{ zero: 0 }] },
  mark: { type: 'rule', color: LIGHT.muted },
  encoding: { x: gainChannel('zero') },
};

const INTERVALS: Layer = {
  mark: { type: 'rule', color: SERIES, strokeWidth: 7, opacity: 0.4 },
  encoding: { x: gainChannel('low'), x2: { field: 'high' } },
};

const DOTS: Layer = {
  mark: { type: 'point', filled: true, color: SERIES, size: 32, opacity: 1 },
  encoding: { x: gainChannel('mean') },
};

const NUMBERS: Layer = {
  mark: { type: 'text', align: 'left', x: WIDTH + 14 },
  encoding: { text: { field: 'label', type: 'nominal' } },
};

function inWords({ name, gain: { mean, low, high } }: Row, baseline: string): string {
  const interval = low === null || high === null ? '' : `, from ${decimal(low, 3)} to ${decimal(high, 3)}`;
  return `${name}: ${decimal(mean, 3)} over ${baseline}${interval}.`;
}
