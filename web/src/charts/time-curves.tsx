/**
 * Curves over the seconds of a training: lines in panels, and shares stacked on each other in the last panel. A crosshair
 * marks one measurement in all panels. The pointer moves it, and so does a slider.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { TableProps } from '../parts/table.js';
import { useWidth } from '../parts/use-width.js';
import { ChartFigure } from './figure.js';

export interface TimeLine {
  readonly name: string;
  readonly colour: string;
  /** A value for each entry of `seconds`. */
  readonly values: readonly number[];
  /** The value of the teacher, drawn as a dashed line; null if it is unknown. */
  readonly level: number | null;
}

/** Lines with common axes. */
export interface Panel {
  readonly name: string;
  readonly lines: readonly TimeLine[];
}

interface TimeCurvesProps {
  readonly title: string;
  readonly notes: readonly string[];
  /** The times of the values since the start of the training, in seconds, ascending. */
  readonly seconds: readonly number[];
  readonly panels: readonly Panel[];
  /** The last panel: shares that add up to 1 at each time. */
  readonly stack: Panel;
  readonly table: TableProps;
}

export function TimeCurves({ title, notes, seconds, panels, stack, table }: TimeCurvesProps) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  /** The measurement under the crosshair; null for none. */
  const cursor = useSignal<number | null>(null);
  const moveTo = (k: number): void => {
    cursor.value = k;
  };
  const at = Math.min(cursor.value ?? Infinity, seconds.length - 1);
  const common = { seconds, at, hasCrosshair: cursor.value !== null, moveTo };
  const frame = width === null ? null : frameIn(width, panels.length + 1);
  return (
    <ChartFigure title={title} notes={notes} table={table}>
      <div class="plot time-curves" ref={container}>
        {frame !== null && (
          <>
            {panels.map((panel) => (
              <LinePanel key={panel.name} {...common} panel={panel} frame={frame} />
            ))}
            <StackPanel {...common} panel={stack} frame={frame} />
          </>
        )}
      </div>
      <TimeSlider seconds={seconds} at={at} moveTo={moveTo} panels={panels} stack={stack} />
    </ChartFigure>
  );
}

type TimeSliderProps = Pick<TimeCurvesProps, 'seconds' | 'panels' | 'stack'> &
  Pick<PanelProps, 'at' | 'moveTo'>;

/** Moves the crosshair by keyboard and touch, and gives the values of the lines to screen readers. */
function TimeSlider({ seconds, at, moveTo, panels, stack }: TimeSliderProps) {
  const shares = stack.lines.map(({ values }) => values[at]);
  const most = shares.indexOf(Math.max(...shares));
  const moment = `${seconds[at].toFixed(1)} s, mostly ${stack.lines[most].name}`;
  const values = panels.flatMap(({ lines }) =>
    lines.map(({ name, values }) => `${name} ${decimal(values[at])}`),
  );
  return (
    <label class="step-slider">
      <span>{moment}</span>
      <input
        type="range"
        min="0"
        max={seconds.length - 1}
        value={at}
        aria-label="Read the curves at"
        aria-valuetext={`${moment}: ${values.join(', ')}`}
        onInput={({ currentTarget }) => moveTo(Number(currentTarget.value))}
      />
    </label>
  );
}

interface Frame {
  readonly width: number;
  readonly height: number;
}

/** In pixels, chosen by hand: the gap between panels, a panel's minimum width and its height, then its margins. */
const [GAP, MIN_WIDTH, HEIGHT] = [16, 210, 150];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 6, 24, 20];

function frameIn(width: number, panels: number): Frame {
  const columns = Math.max(1, Math.min(panels, Math.floor((width + GAP) / (MIN_WIDTH + GAP))));
  return { width: Math.floor((width - GAP * (columns - 1)) / columns), height: HEIGHT };
}

interface PanelProps {
  readonly panel: Panel;
  readonly seconds: readonly number[];
  readonly frame: Frame;
  /** The measurement whose values are shown: the one under the crosshair, else the last. */
  readonly at: number;
  /** Whether the crosshair is shown. */
  readonly hasCrosshair: boolean;
  /** Moves the crosshair to a measurement. */
  readonly moveTo: (k: number) => void;
}

type Scale = (value: number) => number;

/** Returns the scale of the time axis, which ends at the last time, or at 10 seconds (chosen by hand) if that is later. */
const scaleOf = (seconds: readonly number[], { width }: Frame): Scale => {
  const end = Math.max(10, seconds[seconds.length - 1]);
  return (second) => LEFT + (second / end) * (width - LEFT - RIGHT);
};

/** Returns the handlers that move the crosshair to the measurement nearest to the pointer. */
function pointerOf({ seconds, frame, moveTo }: Pick<PanelProps, 'seconds' | 'frame' | 'moveTo'>) {
  const move = ({ clientX, currentTarget }: PointerEvent): void => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    const distances = seconds.map((second) => Math.abs(scaleOf(seconds, frame)(second) - (clientX - left)));
    moveTo(distances.indexOf(Math.min(...distances)));
  };
  return { onPointerMove: move, onPointerDown: move };
}

function LinePanel({ panel: { name, lines }, ...view }: PanelProps) {
  const { seconds, frame, at } = view;
  const all = lines.flatMap(({ values, level }) => (level === null ? values : [...values, level]));
  const [low, high] = rangeOf(all);
  const x = scaleOf(seconds, frame);
  const y: Scale = (value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const now = lines.map(({ name: line, values }) => `${line} ${decimal(values[values.length - 1])}`);
  return (
    <svg role="img" aria-label={`${name} over time. Now: ${now.join(', ')}.`} {...frame} {...pointerOf(view)}>
      <Axes name={name} frame={frame} seconds={seconds} x={x} y={y} ticks={[low, high]} />
      {lines.map(
        ({ name: line, level }) =>
          level !== null && (
            <line
              key={line}
              class="threshold teacher"
              x1={LEFT}
              x2={frame.width - RIGHT}
              y1={y(level)}
              y2={y(level)}
            />
          ),
      )}
      {lines.map(({ name: line, colour, values }) => (
        <path key={line} class="line" stroke={colour} d={pathOf(seconds.map(x), values.map(y))} />
      ))}
      {lines.map(({ name: line, colour, values }, k) => (
        <text
          key={line}
          x={frame.width - RIGHT}
          y={12 + 12 * k}
          text-anchor="end"
          class="panel-name"
          style={{ fill: colour }}
        >
          {lines.length > 1 && `${line} `}
          {decimal(values[at])}
        </text>
      ))}
      <Crosshair {...view}>
        {lines.map(({ name: line, colour, values }) => (
          <circle key={line} cx={x(seconds[at])} cy={y(values[at])} r="3.5" fill={colour} />
        ))}
      </Crosshair>
    </svg>
  );
}

type CrosshairProps = Omit<PanelProps, 'panel' | 'moveTo'> & { readonly children?: ComponentChildren };

function Crosshair({ seconds, frame, at, hasCrosshair, children }: CrosshairProps) {
  if (!hasCrosshair) return null;
  const x = scaleOf(seconds, frame)(seconds[at]);
  return (
    <g class="crosshair">
      <line x1={x} x2={x} y1={TOP} y2={HEIGHT - BOTTOM} />
      {children}
    </g>
  );
}

function StackPanel({ panel: { name, lines }, ...view }: PanelProps) {
  const { seconds, frame } = view;
  const x = scaleOf(seconds, frame);
  const y: Scale = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const sums = seconds.map(() => 0);
  return (
    <svg
      role="img"
      aria-label={`${name} over time. The table has the most frequent action.`}
      {...frame}
      {...pointerOf(view)}
    >
      <Axes name={name} frame={frame} seconds={seconds} x={x} y={y} ticks={[0, 1]} />
      {lines.map(({ name: line, colour, values }) => {
        const lower = sums.map(y);
        values.forEach((value, k) => {
          sums[k] += value;
        });
        const places = seconds.map(x);
        const edges = [...places, ...places.slice().reverse()];
        return (
          <path key={line} d={`${pathOf(edges, [...sums.map(y), ...lower.reverse()])}Z`} fill={colour}>
            <title>{line}</title>
          </path>
        );
      })}
      <Crosshair {...view} />
    </svg>
  );
}

interface AxesProps {
  readonly name: string;
  readonly frame: Frame;
  readonly seconds: readonly number[];
  readonly x: Scale;
  readonly y: Scale;
  readonly ticks: readonly number[];
}

const Axes = ({ name, frame: { width }, seconds, x, y, ticks }: AxesProps) => (
  <g class="axes">
    <text class="panel-name" x="0" y="12">
      {name}
    </text>
    {ticks.map((tick) => (
      <g key={tick}>
        <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
        <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
          {tick.toFixed(1)}
        </text>
      </g>
    ))}
    <text x={x(seconds[seconds.length - 1])} y={HEIGHT - 5} text-anchor="end">
      {seconds[seconds.length - 1].toFixed(0)} s
    </text>
  </g>
);

/** Returns the range of the values, widened to whole tenths. */
function rangeOf(values: readonly number[]): readonly [low: number, high: number] {
  const low = Math.floor(10 * Math.min(...values)) / 10;
  return [low, Math.max(low + 0.1, Math.ceil(10 * Math.max(...values)) / 10)];
}

const decimal = (value: number): string => value.toFixed(3).replace('-', '−');

const pathOf = (xs: readonly number[], ys: readonly number[]): string =>
  `M${xs.map((x, k) => `${x.toFixed(1)} ${ys[k].toFixed(1)}`).join('L')}`;
