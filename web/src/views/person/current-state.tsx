/** The current state and the last step, as an agent observes them. */
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { eventEffect, plain, signed, title } from '../../person/descriptions.js';
import { isPersonal, LUCK, type Luck } from '../../person/luck.js';
import { type Transition, timeOf } from '../../person/transitions.js';
import type { EpisodeSoFar } from './episode-store.js';

export function CurrentState({ episode }: { readonly episode: EpisodeSoFar }) {
  const transition = episode.transitions[episode.transitions.length - 1];
  const { step } = transition;
  return (
    <section class="panel now" aria-labelledby="now">
      <h2 id="now">{step === NUM_STEPS ? 'The week is over' : title(timeOf(step))}</h2>
      <p class="slot">
        <progress value={step} max={NUM_STEPS} aria-label="Slots played" />
        <span>
          {step} of {NUM_STEPS} slots
        </span>
      </p>
      <LastStep transition={transition} />
      <table class="meters">
        <caption class="visually-hidden">The five meters, from 0 to 1</caption>
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
            <MeterRow key={meter} meter={meter} k={k} transition={transition} />
          ))}
        </tbody>
      </table>
      <details>
        <summary>What is personal, and what is luck?</summary>
        <p class="fine">
          <em>Personal or luck</em> is the difference between the last change and that of an average person.
          It is <b class="beyond-luck">marked</b> if luck alone cannot explain it: then a part of it comes
          from the person. The grey bands below it show what luck usually does, and the most that it can do. A
          meter below {RHYTHM.constants.crashThreshold} counts as crashed.
        </p>
      </details>
    </section>
  );
}

function LastStep({ transition: { step, action, event, reward } }: { readonly transition: Transition }) {
  if (step === 0) return <p class="last">Nothing has happened yet. All meters begin at 0.70.</p>;
  return (
    <p class="last">
      {title(timeOf(step - 1))}: <strong>{plain(ACTION_NAMES[action])}</strong>, reward{' '}
      <strong>{signed(reward)}</strong>
      {event >= 0 && (
        <span class="event">
          {title(EVENT_NAMES[event])}: {eventEffect(event)}
        </span>
      )}
    </p>
  );
}

interface MeterRowProps {
  readonly meter: string;
  readonly k: number;
  readonly transition: Transition;
}

function MeterRow({ meter, k, transition }: MeterRowProps) {
  const [value, change, anomaly] = [transition.meters[k], transition.deltas[k], transition.anomalies[k]];
  const low = value < RHYTHM.constants.crashThreshold;
  const personal = isPersonal(anomaly, k);
  const first = transition.step === 0;
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
        {first ? '–' : <span class={personal ? 'beyond-luck' : ''}>{signed(anomaly, 3)}</span>}
        {personal && <span class="visually-hidden"> more than luck</span>}
        {!first && <LuckBand anomaly={anomaly} luck={LUCK[k]} />}
      </td>
    </tr>
  );
}

/**
 * The largest anomaly on the scale. Larger ones are drawn at the end of the scale. Chosen by hand: on a longer scale the bands
 * of luck are narrower.
 */
const WIDEST = 0.2;

const placed = (value: number): number => 50 + (50 * Math.max(-WIDEST, Math.min(WIDEST, value))) / WIDEST;

/** Draws two bands, what luck usually does (inner) and the most that it can do (outer), and a mark of the anomaly over them. */
const LuckBand = ({ anomaly, luck: { usual, most } }: { readonly anomaly: number; readonly luck: Luck }) => (
  <span class="luck" aria-hidden="true">
    {[most, usual].map((width) => (
      <span
        key={width}
        class="range"
        style={{ left: `${placed(-width)}%`, right: `${100 - placed(width)}%` }}
      />
    ))}
    <span class="at" style={{ left: `${placed(anomaly)}%` }} />
  </span>
);
