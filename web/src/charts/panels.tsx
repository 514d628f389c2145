/**
 * Line charts over the steps of a week, in panels side by side. A crosshair marks one step in all panels. The pointer
 * moves it, and so does a slider, for the keyboard, touch and screen readers.
 */
import type { Signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { TableProps } from '../parts/table.js';
import { useWidth } from '../parts/use-width.js';
import { ChartFigure, Legend } from './figure.js';
import { areaOf, type Frame, frameIn, lineOf, pointAt, stemsOf, stepAt } from './panel-layout.js';

export interface Series {
  readonly name: string;
  readonly colour: string;
  /** Whether an earlier series has the same colour, so that this series is dashed. */
  readonly dashed?: boolean;
  /** One value per step; NaN where there is none. */
  readonly values: readonly number[];
  /** Whether each value is drawn as a bar from 0, instead of one line through all values. */
  readonly stems?: boolean;
  /** The edges of a band around the line. */
  readonly band?: readonly [low: readonly number[], high: readonly number[]];
}

export interface Panel {
  readonly name: string;
  readonly domain: readonly [low: number, high: number];
  readonly ticks: readonly number[];
  readonly series: readonly Series[];
  /** The value of a dashed line. */
  readonly threshold?: number;
  /** Shaded ranges behind the lines, the widest first. Without them, the second half of the week is shaded. */
  readonly ranges?: readonly (readonly [low: number, high: number])[];
  /** Formats a value at the crosshair. Default: two decimals. */
  readonly format?: (value: number) => string;
  /** Describes the values at a step for screen readers. Default: the formatted values. */
  readonly inWords?: (step: number) => string;
}

export interface PanelsProps {
  readonly title: string;
  readonly notes?: readonly string[];
  /** The chart in words, for screen readers. */
  readonly description: string;
  readonly panels: readonly Panel[];
  /** The number of points of the axis: 28, or 29 with the start of the week. */
  readonly points: number;
  /** The last point that has values. Default: the last of the axis. */
  readonly last?: number;
  /** The step under the crosshair; null for none. */
  readonly cursor: Signal<number | null>;
  /** Describes a step: "day 3 evening". */
  readonly nameOf: (step: number) => string;
  readonly table?: TableProps;
  /** The label of the slider that moves the crosshair. */
  readonly sliderName?: string;
  /** Steps with an event, which a mark shows in every panel. */
  readonly events?: readonly number[];
}

export function Panels(props: PanelsProps) {
  const { title, notes, description, panels, points, table } = props;
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const frame = useMemo(
    () => (width === null ? null : frameIn(width, panels.length, points)),
    [width, panels.length, points],
  );
  const series = longestOf(panels);
  return (
    <ChartFigure title={title} notes={notes} table={table}>
      {series.length > 1 && (
        <Legend
          names={series.map(({ name }) => name)}
          colours={series.map(({ colour }) => colour)}
          dashed={series.map(({ dashed = false }) => dashed)}
        />
      )}
      {/* The slider sticks within this element, so that it covers neither the title nor the notes. */}
      <div>
        <div class="plot" ref={container}>
          {frame === null ? (
            <div class="plot-to-come" />
          ) : (
            <PanelsPicture
              frame={frame}
              panels={panels}
              description={description}
              events={props.events ?? NO_EVENTS}
              cursor={props.cursor}
            />
          )}
        </div>
        <StepSlider {...props} />
      </div>
    </ChartFigure>
  );
}

/** Returns the series of the panel with the most series. Other panels may lack some of them. */
const longestOf = (panels: readonly Panel[]): readonly Series[] =>
  panels.reduce<readonly Series[]>((most, { series }) => (series.length > most.length ? series : most), []);

const NO_EVENTS: readonly number[] = [];

interface PictureProps {
  readonly frame: Frame;
  readonly panels: readonly Panel[];
  readonly description: string;
  readonly events: readonly number[];
  readonly cursor: Signal<number | null>;
}

function PanelsPicture({ frame, panels, description, events, cursor }: PictureProps) {
  const move = ({ clientX, clientY, currentTarget }: PointerEvent): void => {
    const { left, top } = (currentTarget as Element).getBoundingClientRect();
    cursor.value = stepAt(frame, clientX - left, clientY - top);
  };
  const drawn = useMemo(
    () =>
      panels.map((panel, k) => (
        <PanelLines key={panel.name} panel={panel} frame={frame} events={events} k={k} />
      )),
    [panels, frame, events],
  );
  return (
    <svg
      role="img"
      aria-label={description}
      width={frame.width}
      height={frame.height}
      onPointerMove={move}
      onPointerDown={move}
    >
      {drawn}
      <Crosshair frame={frame} panels={panels} cursor={cursor} />
    </svg>
  );
}

interface PanelLinesProps {
  readonly panel: Panel;
  readonly frame: Frame;
  readonly events: readonly number[];
  /** The index of the panel. */
  readonly k: number;
}

function PanelLines({ panel, frame, events, k }: PanelLinesProps) {
  const { left, top } = frame.places[k];
  const { plotWidth, plotHeight, days } = frame;
  const y = (value: number): number => pointAt(frame, panel.domain, 0, value).y;
  return (
    <g transform={`translate(${left} ${top})`}>
      <text class="panel-name" x="0" y="-8">
        {panel.name}
      </text>
      {panel.ranges === undefined && (
        <rect class="half" x={plotWidth / 2} width={plotWidth / 2} height={plotHeight} />
      )}
      {panel.ranges?.map(([low, high]) => (
        <rect key={high} class="range" y={y(high)} width={plotWidth} height={y(low) - y(high)} />
      ))}
      <g class="axes">
        {panel.ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2={plotWidth} y1={y(tick)} y2={y(tick)} />
            <text x="-6" y={y(tick) + 4} text-anchor="end">
              {String(tick).replace('-', '−')}
            </text>
          </g>
        ))}
        {days.map(({ day, x }) => (
          <text key={day} x={x} y={plotHeight + 15} text-anchor="middle">
            {day}
          </text>
        ))}
      </g>
      {panel.threshold !== undefined && (
        <line class="threshold" x1="0" x2={plotWidth} y1={y(panel.threshold)} y2={y(panel.threshold)} />
      )}
      {panel.series.map(
        ({ name, colour, band }) =>
          band && <path key={name} class="band" d={areaOf(frame, panel.domain, band)} fill={colour} />,
      )}
      {panel.series.map(({ name, colour, dashed, stems, values }) => (
        <path
          key={name}
          class={stems ? 'stem' : dashed ? 'line dashed' : 'line'}
          d={(stems ? stemsOf : lineOf)(frame, panel.domain, values)}
          stroke={colour}
        />
      ))}
      {events.map((step) => {
        const { x } = pointAt(frame, panel.domain, step, 0);
        return (
          <g key={step} class="event-mark">
            <line x1={x} x2={x} y1="0" y2={plotHeight} />
            <path d={`M${x - 4} 0h8l-4 7Z`} />
          </g>
        );
      })}
    </g>
  );
}

function Crosshair({ frame, panels, cursor }: Omit<PictureProps, 'description' | 'events'>) {
  const step = cursor.value;
  if (step === null) return null;
  return (
    <>
      {panels.map((panel, k) => {
        const { left, top } = frame.places[k];
        const x = pointAt(frame, panel.domain, step, 0).x;
        return (
          <g key={panel.name} transform={`translate(${left} ${top})`} class="crosshair">
            <line x1={x} x2={x} y1="0" y2={frame.plotHeight} />
            {panel.series.map(
              ({ name, colour, values }) =>
                Number.isFinite(values[step]) && (
                  <circle
                    key={name}
                    cx={x}
                    cy={pointAt(frame, panel.domain, step, values[step]).y}
                    r="3.5"
                    fill={colour}
                  />
                ),
            )}
            <text x={frame.plotWidth} y="-8" text-anchor="end">
              {panel.series
                .filter(({ values }) => Number.isFinite(values[step]))
                .map(({ name, colour, values }, j) => (
                  <tspan key={name} fill={colour} dx={j === 0 ? 0 : 8}>
                    {formatted(panel, values[step])}
                  </tspan>
                ))}
            </text>
          </g>
        );
      })}
    </>
  );
}

function StepSlider(props: PanelsProps) {
  const { cursor, points, last = points - 1, nameOf, panels, sliderName = 'Read the chart at' } = props;
  const step = Math.min(last, cursor.value ?? last);
  const values = panels.map((panel) => `${panel.name} ${wordsAt(panel, step)}`);
  return (
    <label class="step-slider">
      <span>{nameOf(step)}</span>
      <input
        type="range"
        min="0"
        max={last}
        value={step}
        aria-label={sliderName}
        aria-valuetext={`${nameOf(step)}: ${values.join(', ')}`}
        onInput={({ currentTarget }) => {
          cursor.value = Number(currentTarget.value);
        }}
      />
    </label>
  );
}

const formatted = ({ format }: Panel, value: number): string => format?.(value) ?? value.toFixed(2);

function wordsAt(panel: Panel, step: number): string {
  if (panel.inWords !== undefined) return panel.inWords(step);
  return panel.series
    .map(({ values }) => (Number.isFinite(values[step]) ? formatted(panel, values[step]) : 'none'))
    .join(' and ');
}
