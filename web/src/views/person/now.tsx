/** The person now: the five meters, and what the last action did to this person beside what it does to most people. */
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { comparison, eventEffect, signed, title } from '../../person/descriptions.js';
import { isPersonal } from '../../person/luck.js';
import { type Transition, timeOf } from '../../person/transitions.js';
import type { EpisodeSoFar } from './episode-store.js';

export function Now({ episode }: { readonly episode: EpisodeSoFar }) {
  const transition = episode.transitions[episode.transitions.length - 1];
  const { step, action, event } = transition;
  return (
    <section class="panel now" aria-labelledby="now">
      <div class="head">
        <h2 id="now">{step === NUM_STEPS ? 'The week is over' : title(timeOf(step))}</h2>
        <small>
          {step} of {NUM_STEPS} slots
        </small>
      </div>
      <table class="meters">
        <caption class="visually-hidden">
          The five meters, from 0 to 1, and the effect of the last action on this person and on most people
        </caption>
        <thead>
          <tr>
            <th scope="col">{step === 0 ? 'Meter' : title(ACTION_NAMES[action])}</th>
            <th scope="col">now</th>
            <th scope="col">them</th>
            <th scope="col">most</th>
          </tr>
        </thead>
        <tbody>
          {METER_NAMES.map((meter, k) => (
            <MeterRow key={meter} meter={meter} k={k} transition={transition} />
          ))}
        </tbody>
      </table>
      <p class="last">{step === 0 ? 'Nothing has happened yet.' : comparison(transition)}</p>
      {event >= 0 && (
        <p class="event">
          <strong>⚡ {title(EVENT_NAMES[event])}</strong> came too<span>: {eventEffect(event)}</span>
        </p>
      )}
      <p class="fine">
        Marked numbers are more than luck can explain, so they tell you something about this person. Time
        passing costs each meter about 0.02 a slot.
      </p>
    </section>
  );
}

interface MeterRowProps {
  readonly meter: string;
  readonly k: number;
  readonly transition: Transition;
}

function MeterRow({ meter, k, transition }: MeterRowProps) {
  const { step, meters, deltas, anomalies, effect, typical } = transition;
  const value = meters[k];
  const isMarked = step > 0 && isPersonal(anomalies[k], k);
  return (
    <tr class={value < RHYTHM.constants.crashThreshold ? 'low' : ''}>
      <th scope="row">
        <span class="name">{meter}</span>
        <span class="track" aria-hidden="true">
          <span class="fill" style={{ width: `${100 * value}%` }} />
          {step > 0 && <span class="before" style={{ left: `${100 * (value - deltas[k])}%` }} />}
        </span>
      </th>
      <td>{value.toFixed(2)}</td>
      <td>
        <span class={isMarked ? 'personal' : ''}>{step === 0 ? '–' : signed(effect[k])}</span>
        {isMarked && <span class="visually-hidden"> more than luck</span>}
      </td>
      <td>{step === 0 ? '–' : signed(typical[k])}</td>
    </tr>
  );
}
