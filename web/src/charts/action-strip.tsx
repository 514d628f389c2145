/** The actions of a week as coloured squares, with their names where there is room, and a badge for each event. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ACTION_STYLES } from '../../../src/figures/action-sequences.js';
import { EVENT_NAMES, NUM_SLOTS, NUM_STEPS } from '../../../src/world/fields.js';
import { useWidth } from '../parts/use-width.js';
import { plain } from '../person/descriptions.js';

interface ActionStripProps {
  /** Codes of ACTION_NAMES, at most 28. */
  readonly actions: readonly number[];
  /** Codes of EVENT_NAMES by step; -1 for none. */
  readonly events: readonly number[];
  readonly description: string;
  /** The number of steps before the crosshair; null for no crosshair. */
  readonly cursor: Signal<number | null>;
}

/** The smallest width of a cell (a square and the gap after it) with room for a name, and the gap between days, in pixels. */
const [MIN_NAMED, DAY_GAP] = [15, 3];
/** The heights of a badge, of a square with a name, and of a square without one, in pixels. */
const [BADGE, NAMED_HEIGHT, PLAIN_HEIGHT] = [18, 84, 34];

export function ActionStrip({ actions, events, description, cursor }: ActionStripProps) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  return (
    <>
      <div class="plot" ref={container}>
        {width !== null && (
          <Squares
            actions={actions}
            events={events}
            description={description}
            cursor={cursor}
            width={width}
          />
        )}
      </div>
      {width !== null && cellOf(width) < MIN_NAMED && <ActionLegend actions={actions} />}
    </>
  );
}

/** Returns the width of a square and the gap after it. @param width the width of the strip. */
const cellOf = (width: number): number => (width - DAY_GAP * (NUM_STEPS / NUM_SLOTS - 1)) / NUM_STEPS;

type SquaresProps = ActionStripProps & { readonly width: number };

function Squares({ actions, events, description, cursor, width }: SquaresProps) {
  const cell = cellOf(width);
  const height = cell < MIN_NAMED ? PLAIN_HEIGHT : NAMED_HEIGHT;
  const leftOf = (step: number): number => step * cell + DAY_GAP * Math.floor(step / NUM_SLOTS);
  const moveCursor = ({ clientX, currentTarget }: PointerEvent): void => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    const step = Math.floor(((clientX - left) / width) * NUM_STEPS);
    if (step < actions.length) cursor.value = Math.max(0, step) + 1;
  };
  return (
    <svg
      role="img"
      aria-label={description}
      width={width}
      height={height + BADGE}
      onPointerMove={moveCursor}
      onPointerDown={moveCursor}
    >
      {Array.from({ length: NUM_STEPS }, (_, step) => (
        <Square
          key={step}
          box={{ x: leftOf(step), width: cell - 1, height }}
          action={actions[step] ?? null}
          event={events[step] ?? -1}
          marked={cursor.value === step + 1}
        />
      ))}
    </svg>
  );
}

interface SquareProps {
  readonly box: { readonly x: number; readonly width: number; readonly height: number };
  readonly action: number | null;
  readonly event: number;
  readonly marked: boolean;
}

function Square({ box: { x, width, height }, action, event, marked }: SquareProps) {
  return (
    <g transform={`translate(${x} ${BADGE})`} class={marked ? 'square marked' : 'square'}>
      <rect
        width={width}
        height={height}
        rx="2"
        fill={action === null ? undefined : ACTION_STYLES[action].colour}
      />
      {/* A square is one pixel narrower than its cell. */}
      {action !== null && width >= MIN_NAMED - 1 && (
        <text class="on-colour" transform={`translate(${width / 2 + 4} ${height - 6}) rotate(-90)`}>
          {plain(ACTION_STYLES[action].action)}
        </text>
      )}
      {event >= 0 && (
        <text class="badge" x={width / 2} y="-5" text-anchor="middle">
          <title>{plain(EVENT_NAMES[event])}</title>⚡
        </text>
      )}
    </g>
  );
}

/** The names of the actions, shown if the squares have no room for them. */
const ActionLegend = ({ actions }: Pick<ActionStripProps, 'actions'>) => (
  <ul class="legend" aria-hidden="true">
    {ACTION_STYLES.map(
      ({ action, colour }, code) =>
        actions.includes(code) && (
          <li key={action}>
            <span class="chip" style={{ background: colour }} />
            {plain(action)}
          </li>
        ),
    )}
  </ul>
);
