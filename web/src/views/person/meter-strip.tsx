/** The slot, the last step and the five meters, which stay at the top of a narrow screen while the user acts. */
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { plain, signed, title } from '../../person/descriptions.js';
import { type Transition, timeOf } from '../../person/transitions.js';
import type { EpisodeSoFar } from './episode-store.js';

/** Hidden from screen readers, which have the table of the current state. */
export function MeterStrip({ episode: { transitions } }: { readonly episode: EpisodeSoFar }) {
  const last = transitions[transitions.length - 1];
  const { meters } = last;
  return (
    <div class="strip" aria-hidden="true">
      <p>{momentOf(last)}</p>
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

/** Returns the slot, and the last action, event and reward: "Day 2 evening. Sleep: work crisis, reward +0.4". */
function momentOf({ step, action, event, reward }: Transition): string {
  const now = title(timeOf(Math.min(step, NUM_STEPS - 1)));
  if (step === 0) return now;
  const events = event < 0 ? [] : [plain(EVENT_NAMES[event])];
  return `${now}. ${title(ACTION_NAMES[action])}: ${[...events, `reward ${signed(reward, 1)}`].join(', ')}`;
}
