/** The events of the week as badges with time, name and effect. Pressing a badge moves the crosshair to its step. */
import type { Signal } from '@preact/signals';
import { EVENT_NAMES, TRAIT_NAMES } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { eventEffect, title } from '../../person/descriptions.js';
import { type Transition, timeOf } from '../../person/transitions.js';

interface EventBadgesProps {
  readonly transitions: readonly Transition[];
  /** The step under the crosshair; null for none. */
  readonly cursor: Signal<number | null>;
}

/** The range of the trait event_impact, which multiplies the effects of events. */
const { low: WEAKEST, high: STRONGEST } = RHYTHM.traits[TRAIT_NAMES.indexOf('event_impact')];

export function EventBadges({ transitions, cursor }: EventBadgesProps) {
  const events = transitions.filter(({ event }) => event >= 0);
  if (events.length === 0) return null;
  return (
    <div class="events">
      <ul aria-label="Events of the week">
        {events.map(({ step, event }) => (
          <li key={step}>
            <button
              type="button"
              aria-pressed={cursor.value === step}
              onClick={() => {
                cursor.value = step;
              }}
            >
              ⚡ {title(timeOf(step - 1))}: <strong>{EVENT_NAMES[event].replaceAll('_', ' ')}</strong>
              <small>{eventEffect(event)}</small>
            </button>
          </li>
        ))}
      </ul>
      <p class="fine">
        The effects are those on an average person. For each person they are {WEAKEST} to {STRONGEST} times as
        strong.
      </p>
    </div>
  );
}
