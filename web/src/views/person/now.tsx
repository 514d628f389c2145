/** How the person is now, and what the last step brought: what an agent sees, and nothing else. */
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/spec.js';
import { type Moment, timeOf } from '../../person/reading.js';
import { plain, signed, title } from '../../person/words.js';
import type { Shown } from './follow.js';

const LUCK = RHYTHM.noise.meters;

export function Now({ shown }: { readonly shown: Shown }) {
  const moment = shown.moments[shown.moments.length - 1];
  const { step } = moment;
  return (
    <section class="panel now" aria-labelledby="now">
      <h2 id="now">{step === NUM_STEPS ? 'The week is over' : title(timeOf(step))}</h2>
      <p class="slot">
        <progress value={step} max={NUM_STEPS} aria-label="Slots lived" />
        <span>
          {step} of {NUM_STEPS} slots
        </span>
      </p>
      <LastStep moment={moment} />
      <table class="meters">
        <caption class="heard">The five meters, from 0 to 1</caption>
        <thead>
          <tr>
            <th scope="col">Meter</th>
            <td />
            <th scope="col">Now</th>
            <th scope="col">Change</th>
            <th scope="col">Personal or luck</th>
          </tr>
        </thead>
        <tbody>
          {METER_NAMES.map((meter, k) => (
            <MeterRow key={meter} meter={meter} k={k} moment={moment} />
          ))}
        </tbody>
      </table>
      <p class="fine">
        <em>Personal or luck</em> is the part of the last action’s change that an average person would not
        have had. Where it is more than luck can do, it is <b class="telling">marked</b>: that is the person.
        Below {RHYTHM.constants.crashThreshold} a meter counts as crashed.
      </p>
    </section>
  );
}

function LastStep({ moment: { step, action, event, reward } }: { readonly moment: Moment }) {
  if (step === 0) return <p class="last">Nothing has happened yet. All meters begin at 0.70.</p>;
  return (
    <p class="last">
      {title(timeOf(step - 1))}: <strong>{plain(ACTION_NAMES[action])}</strong>, reward{' '}
      <strong>{signed(reward)}</strong>
      {event >= 0 && <span class="event">{title(EVENT_NAMES[event])}</span>}
    </p>
  );
}

interface MeterRowProps {
  readonly meter: string;
  readonly k: number;
  readonly moment: Moment;
}

function MeterRow({ meter, k, moment }: MeterRowProps) {
  const [value, change, anomaly] = [moment.meters[k], moment.deltas[k], moment.anomalies[k]];
  const low = value < RHYTHM.constants.crashThreshold;
  const telling = Math.abs(anomaly) > LUCK[k];
  const first = moment.step === 0;
  return (
    <tr class={low ? 'low' : ''}>
      <th scope="row">{meter}</th>
      <td class="bar" aria-hidden="true">
        <span class="track">
          <span class="fill" style={{ width: `${100 * value}%` }} />
          {!first && <span class="before" style={{ left: `${100 * (value - change)}%` }} />}
        </span>
      </td>
      <td>{value.toFixed(2)}</td>
      <td>{first ? '–' : signed(change)}</td>
      <td>
        {first ? '–' : <span class={telling ? 'telling' : ''}>{signed(anomaly, 3)}</span>}
        {telling && <span class="heard"> more than luck</span>}
      </td>
    </tr>
  );
}
