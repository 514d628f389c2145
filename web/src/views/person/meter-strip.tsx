/** The five meters in one line, which stays at the top of a narrow screen while the user acts. */
import { METER_NAMES } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import type { EpisodeSoFar } from './episode-store.js';

/** Hidden from screen readers, which have the table of the current state. */
export function MeterStrip({ episode: { transitions } }: { readonly episode: EpisodeSoFar }) {
  const { meters } = transitions[transitions.length - 1];
  return (
    <div class="strip" aria-hidden="true">
      {METER_NAMES.map((name, k) => (
        <div key={name} class={meters[k] < RHYTHM.constants.crashThreshold ? 'low' : ''}>
          <small>{name}</small>
          <span class="track">
            <span class="fill" style={{ width: `${100 * meters[k]}%` }} />
          </span>
        </div>
      ))}
    </div>
  );
}
