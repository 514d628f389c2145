/** Histograms of final scores, drawn over one another. A line of text has the shares of the bars under the pointer. */
import { type Signal, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { decimal } from '../../../src/figures/theme.js';
import type { TableProps } from '../parts/content.js';
import { percent } from '../words.js';
import { useWidth } from './figure.js';

export interface HistogramRow {
  readonly name: string;
  readonly colour: string;
  /** Whether an earlier row has the same colour, so that this row is drawn as an outline. */
  readonly dashed?: boolean;
  /** u32: episodes by bin; the bins divide [0, 1]. */
  readonly counts: Uint32Array;
  readonly mean: number;
}

interface HistogramPlotProps {
  readonly rows: readonly HistogramRow[];
  readonly description: string;
  /** In pixels. Default: by the width. */
  readonly height?: number;
  /** Values to compare with, as lines with their names. */
  readonly marks?: readonly { readonly name: string; readonly value: number }[];
}

/** The number of bars over the scores from 0 to 1. */
const BARS = 50;
/** Margins of the picture, in pixels. */
const [TOP, BOTTOM, LEFT, RIGHT] = [8, 26, 38, 8];

/** The picture, and the line of text about the bars under the pointer. */
export function HistogramPlot(props: HistogramPlotProps) {
  const { rows } = props;
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const bar = useSignal<number | null>(null);
  const shares = useMemo(() => rows.map(({ counts }) => sharesOf(counts, BARS)), [rows]);
  const read = (at: number): string => {
    const [from, to] = [at, at + 1].map((edge) => (edge / BARS).toFixed(2));
    return `${from} to ${to}: ${rows.map(({ name }, k) => `${name} ${percent(shares[k][at])}`).join(', ')}`;
  };
  return (
    <div class="plot" ref={container}>
      {width === null ? (
        <div class="plot-to-come" />
      ) : (
        <Picture height={width < 500 ? 190 : 240} {...props} width={width} shares={shares} bar={bar} />
      )}
      <p class="readout" aria-hidden="true">
        {bar.value === null
          ? 'Point at a bar to read the share of the people with this score.'
          : read(bar.value)}
      </p>
    </div>
  );
}

/** Returns the share of the episodes in each of `groups` groups of bins. */
function sharesOf(counts: Uint32Array, groups: number): number[] {
  const sum = (bins: Uint32Array): number => bins.reduce((all, each) => all + each, 0);
  const size = counts.length / groups;
  return Array.from(
    { length: groups },
    (_, k) => sum(counts.subarray(k * size, (k + 1) * size)) / sum(counts),
  );
}

interface PictureProps extends HistogramPlotProps {
  readonly width: number;
  readonly height: number;
  readonly shares: readonly (readonly number[])[];
  readonly bar: Signal<number | null>;
}

function Picture({ rows, marks = [], shares, width, height, description, bar }: PictureProps) {
  const x = (score: number): number => LEFT + score * (width - LEFT - RIGHT);
  // At least 2 %, the smallest distance between lines of the axis.
  const highest = Math.max(0.02, ...shares.flat());
  const y = (share: number): number => TOP + (1 - share / highest) * (height - TOP - BOTTOM);
  const move = ({ clientX, currentTarget }: PointerEvent): void => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    const score = (clientX - left - LEFT) / (width - LEFT - RIGHT);
    bar.value = score < 0 || score >= 1 ? null : Math.floor(score * BARS);
  };
  const barOf = (share: number, k: number): string =>
    share === 0 ? '' : `M${x(k / BARS)} ${y(0)}V${y(share)}H${x((k + 1) / BARS) - 0.5}V${y(0)}Z`;
  return (
    <svg
      role="img"
      aria-label={description}
      width={width}
      height={height}
      onPointerMove={move}
      onPointerDown={move}
      onPointerLeave={({ pointerType }) => {
        // The bar that a finger pointed at stays marked when the finger is lifted.
        if (pointerType !== 'touch') bar.value = null;
      }}
    >
      <g class="axes">
        {linesUpTo(highest).map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 6} y={y(share) + 4} text-anchor="end">
              {Math.round(100 * share)} %
            </text>
          </g>
        ))}
        <line class="base" x1={LEFT} x2={width - RIGHT} y1={y(0)} y2={y(0)} />
        {[0, 0.2, 0.4, 0.6, 0.8, 1].map((score) => (
          <text key={score} x={x(score)} y={height - 8} text-anchor={score === 1 ? 'end' : 'middle'}>
            {score.toFixed(1)}
          </text>
        ))}
      </g>
      {rows.map(({ name, colour, dashed }, k) => (
        <path
          key={name}
          class={dashed ? 'bars dashed' : 'bars'}
          d={shares[k].map(barOf).join('')}
          {...(dashed ? { stroke: colour } : { fill: colour })}
        />
      ))}
      {rows.map(({ name, colour, mean }) => (
        <line key={name} class="mean" x1={x(mean)} x2={x(mean)} y1={TOP} y2={y(0)} stroke={colour} />
      ))}
      {/* The names are below each other, each on the side of its line away from the first row's mean. */}
      {marks.map(({ name, value }, k) => {
        const [side, anchor] = value < rows[0].mean ? [-4, 'end' as const] : [4, 'start' as const];
        return (
          <g key={name} class="marks">
            <line x1={x(value)} x2={x(value)} y1={TOP + 13 * k} y2={y(0)} />
            <text x={x(value) + side} y={TOP + 9 + 13 * k} text-anchor={anchor}>
              {name}
            </text>
          </g>
        );
      })}
      {bar.value !== null && (
        <rect
          class="cursor-bar"
          x={x(bar.value / BARS)}
          y={TOP}
          width={x(1 / BARS) - x(0)}
          height={y(0) - TOP}
        />
      )}
    </svg>
  );
}

/** Returns the shares with a line of the axis: at most five lines for shares up to 50 %. The distances are chosen by hand. */
function linesUpTo(highest: number): number[] {
  const step = highest > 0.2 ? 0.1 : highest > 0.08 ? 0.04 : 0.02;
  return Array.from({ length: Math.floor(highest / step) }, (_, k) => (k + 1) * step);
}

/** The rows of the table over the scores from 0 to 1. Chosen by hand: a short table that still shows the shape. */
const TABLE_ROWS = 20;

/** Returns the histograms of final scores as a table, without the rows that are empty for all policies. */
export function histogramTable(policies: readonly Pick<HistogramRow, 'name' | 'counts'>[]): TableProps {
  const shares = policies.map(({ counts }) => sharesOf(counts, TABLE_ROWS));
  const rows = Array.from({ length: TABLE_ROWS }, (_, k) => {
    const [from, to] = [k, k + 1].map((edge) => decimal(edge / TABLE_ROWS, 2));
    return [`${from} to ${to}`, ...shares.map((each) => percent(each[k]))];
  });
  return {
    caption: 'Share of the people by final score.',
    columns: ['Final score', ...policies.map(({ name }) => name)],
    rows: rows.filter((_, k) => shares.some((each) => each[k] > 0)),
  };
}
