/**
 * Line charts over the steps of a week or over seconds, in panels side by side. A crosshair marks one point in all panels. The
 * pointer moves it, and so does a slider, for the keyboard, touch and screen readers.
 */
import type { Signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { TableProps } from '../parts/content.js';
import { ChartFigure, Legend, useWidth } from './figure.js';
import { areaOf, type Frame, frameIn, indexAt, lineOf, secondsAxis, weekAxis, xOf, yOf } from './layout.js';

interface Series {
  readonly name: string;
  readonly colour: string;
  /** Whether an earlier series has the same colour, so that this series is dashed. */
  readonly dashed?: boolean;
  /** One value per point; NaN where there is none. */
  readonly values: readonly number[];
  /** The edges of a band around the line. */
  readonly band?: readonly [low: readonly number[], high: readonly number[]];
}

export interface Panel {
  readonly name: string;
  readonly domain: readonly [low: number, high: number];
  readonly ticks: readonly number[];
  readonly series: readonly Series[];
  /** Whether the values are shares that add up to 1, drawn as bands on each other instead of lines. */
  readonly stacked?: boolean;
  /** The values of dashed lines, and their colour. Default: grey. */
  readonly thresholds?: readonly number[];
  readonly thresholdColour?: string;
  /** Formats a value at the crosshair. Default: two decimals. */
  readonly format?: (value: number) => string;
  /** Describes the values of a point for screen readers. Default: the formatted values. */
  readonly inWords?: (k: number) => string;
}

interface PanelsProps {
  readonly title: string;
  readonly notes?: readonly string[];
  /** The chart in words, for screen readers. */
  readonly description: string;
  readonly panels: readonly Panel[];
  /** The number of points of a week, 28, or 29 with the start of the week; or the second of each point. */
  readonly points: number | readonly number[];
  /** The last point that has values. Default: the last of the axis. */
  readonly last?: number;
  /** The point under the crosshair; null for none. */
  readonly cursor: Signal<number | null>;
  /** Describes a point: "day 3 evening". */
  readonly nameOf: (k: number) => string;
  readonly table?: TableProps;
  /** The label of the slider that moves the crosshair. */
  readonly sliderName?: string;
  /** Points with an event, which a mark shows in every panel. */
  readonly events?: readonly number[];
}

export function Panels(props: PanelsProps) {
  const { title, notes, panels, points, table } = props;
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const axis = useMemo(() => (typeof points === 'number' ? weekAxis(points) : secondsAxis(points)), [points]);
  const frame = useMemo(
    () => (width === null ? null : frameIn(width, panels.length, axis)),
    [width, panels.length, axis],
  );
  const { last = axis.at.length - 1 } = props;
  // The series of the panel with the most lines. Other panels may lack some of them.
  const [series = []] = panels
    .flatMap(({ stacked, series }) => (stacked ? [] : [series]))
    .sort((a, b) => b.length - a.length);
  return (
    <ChartFigure title={title} notes={notes} table={table}>
      {series.length > 1 && <Legend rows={series} />}
      {/* The slider sticks within this element, so that it covers neither the title nor the notes. */}
      <div>
        <div class="plot" ref={container}>
          {frame === null ? <div class="plot-to-come" /> : <Picture {...props} frame={frame} last={last} />}
        </div>
        <PointSlider {...props} last={last} />
      </div>
    </ChartFigure>
  );
}

const NO_EVENTS: readonly number[] = [];

type PictureProps = PanelsProps & { readonly frame: Frame; readonly last: number };

function Picture({ frame, panels, description, events = NO_EVENTS, cursor, last }: PictureProps) {
  const move = ({ clientX, clientY, currentTarget }: PointerEvent): void => {
    const { left, top } = (currentTarget as Element).getBoundingClientRect();
    cursor.value = indexAt(frame, clientX - left, clientY - top);
  };
  const drawn = useMemo(
    () => panels.map((panel) => <PanelLines key={panel.name} panel={panel} frame={frame} events={events} />),
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
      {panels.map((panel, k) => (
        <g key={panel.name} transform={`translate(${frame.places[k].left} ${frame.places[k].top})`}>
          {drawn[k]}
          <Values panel={panel} frame={frame} k={cursor.value ?? last} />
          {cursor.value !== null && <Crosshair panel={panel} frame={frame} k={cursor.value} />}
        </g>
      ))}
    </svg>
  );
}

interface PanelProps {
  readonly panel: Panel;
  readonly frame: Frame;
}

function PanelLines({ panel, frame, events }: PanelProps & { readonly events: readonly number[] }) {
  const { domain, series, stacked, thresholds = [] } = panel;
  const { plotWidth, plotHeight, axis } = frame;
  const y = (value: number): number => yOf(frame, domain, value);
  return (
    <>
      <text class="panel-name" x="0" y="-8">
        {panel.name}
      </text>
      {axis.hasHalves && <rect class="half" x={plotWidth / 2} width={plotWidth / 2} height={plotHeight} />}
      <g class="axes">
        {panel.ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2={plotWidth} y1={y(tick)} y2={y(tick)} />
            <text x="-6" y={y(tick) + 4} text-anchor="end">
              {String(tick).replace('-', '−')}
            </text>
          </g>
        ))}
        {axis.labels.map(({ at, text }) => (
          <text
            key={text}
            x={xOf(frame, at)}
            y={plotHeight + 15}
            text-anchor={at === 0 ? 'start' : at === axis.end ? 'end' : 'middle'}
          >
            {text}
          </text>
        ))}
      </g>
      {thresholds.map((value) => (
        <line
          key={value}
          class="threshold"
          style={{ stroke: panel.thresholdColour }}
          x2={plotWidth}
          y1={y(value)}
          y2={y(value)}
        />
      ))}
      {series.map(
        ({ name, colour, band }) =>
          band && (
            <path
              key={name}
              class={stacked ? undefined : 'band'}
              d={areaOf(frame, domain, band)}
              fill={colour}
            >
              <title>{name}</title>
            </path>
          ),
      )}
      {!stacked &&
        series.map(({ name, colour, dashed, values }) => (
          <path
            key={name}
            class={dashed ? 'line dashed' : 'line'}
            d={lineOf(frame, domain, values)}
            stroke={colour}
          />
        ))}
      {events.map((k) => {
        const x = xOf(frame, axis.at[k]);
        return (
          <g key={k} class="event-mark">
            <line x1={x} x2={x} y1="0" y2={plotHeight} />
            <path d={`M${x - 4} 0h8l-4 7Z`} />
          </g>
        );
      })}
    </>
  );
}

/** `k`: the index of the point. */
type PointProps = PanelProps & { readonly k: number };

const seriesAt = ({ series, stacked }: Panel, k: number): readonly Series[] =>
  stacked ? [] : series.filter(({ values }) => Number.isFinite(values[k]));

/** The values of a point, at the upper right of the panel. */
const Values = ({ panel, frame, k }: PointProps) => (
  <text class="values" x={frame.plotWidth} y="-8" text-anchor="end">
    {seriesAt(panel, k).map(({ name, colour, values }, j) => (
      <tspan key={name} fill={colour} dx={j === 0 ? 0 : 8}>
        {formatted(panel, values[k])}
      </tspan>
    ))}
  </text>
);

function Crosshair({ panel, frame, k }: PointProps) {
  const x = xOf(frame, frame.axis.at[k]);
  return (
    <g class="crosshair">
      <line x1={x} x2={x} y2={frame.plotHeight} />
      {seriesAt(panel, k).map(({ name, colour, values }) => (
        <circle key={name} cx={x} cy={yOf(frame, panel.domain, values[k])} r="3.5" fill={colour} />
      ))}
    </g>
  );
}

function PointSlider({ cursor, last, nameOf, panels, sliderName }: PanelsProps & { readonly last: number }) {
  const k = Math.min(last, cursor.value ?? last);
  const values = panels.map((panel) => `${panel.name} ${wordsAt(panel, k)}`);
  return (
    <label class="step-slider">
      <span>{nameOf(k)}</span>
      <input
        type="range"
        min="0"
        max={last}
        value={k}
        aria-label={sliderName ?? 'Read the chart at'}
        aria-valuetext={`${nameOf(k)}: ${values.join(', ')}`}
        onInput={({ currentTarget }) => {
          cursor.value = Number(currentTarget.value);
        }}
      />
    </label>
  );
}

const formatted = ({ format }: Panel, value: number): string => format?.(value) ?? value.toFixed(2);

function wordsAt(panel: Panel, k: number): string {
  if (panel.inWords !== undefined) return panel.inWords(k);
  return panel.series
    .map(({ values }) => (Number.isFinite(values[k]) ? formatted(panel, values[k]) : 'none'))
    .join(' and ');
}
