/** The actions of a week as coloured squares, with their names where there is room, and a badge for each event. */
import type { Signal } from '@preact/signals';
import { ACTION_STYLES } from '../../../src/figures/action-sequences.js';
import { EVENT_NAMES, NUM_STEPS } from '../../../src/world/fields.js';
import { plain } from '../person/descriptions.js';
import { Legend } from './figure.js';

interface ActionStripProps {
  /** Codes of ACTION_NAMES, at most 28. */
  readonly actions: readonly number[];
  /** Codes of EVENT_NAMES by step; -1 for none. */
  readonly events: readonly number[];
  readonly description: string;
  /** The number of steps before the crosshair; null for no crosshair. */
  readonly cursor: Signal<number | null>;
}

export function ActionStrip({ actions, events, description, cursor }: ActionStripProps) {
  const moveCursor = ({ clientX, currentTarget }: PointerEvent): void => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    const step = Math.floor(((clientX - left) / width) * NUM_STEPS);
    if (step < actions.length) cursor.value = Math.max(0, step) + 1;
  };
  const taken = ACTION_STYLES.filter((_, code) => actions.includes(code));
  return (
    <div class="action-strip">
      <div role="img" aria-label={description} onPointerMove={moveCursor} onPointerDown={moveCursor}>
        {Array.from({ length: NUM_STEPS }, (_, step) => {
          const style = step < actions.length ? ACTION_STYLES[actions[step]] : null;
          const event = events[step] ?? -1;
          return (
            <span
              key={step}
              class={cursor.value === step + 1 ? 'marked' : ''}
              style={{ background: style?.colour }}
            >
              {event >= 0 && <i title={plain(EVENT_NAMES[event])}>⚡</i>}
              {style && <b>{plain(style.action)}</b>}
            </span>
          );
        })}
      </div>
      <Legend names={taken.map(({ action }) => plain(action))} colours={taken.map(({ colour }) => colour)} />
    </div>
  );
}
