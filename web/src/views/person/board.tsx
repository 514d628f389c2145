/** What is on the board during the week: the person now, and the next action of the visitor or of a policy. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { Button } from '../../parts/controls.js';
import {
  comparison,
  eventEffect,
  isPersonal,
  lastTransitionOf,
  plain,
  signed,
  slotOf,
  type Transition,
  timeOf,
  title,
  typicalOf,
} from '../../person/descriptions.js';
import { type Advice, BY_HAND, HINTS, isSlow } from '../../person/episode.js';
import { policyName } from '../../words.js';
import type { EpisodeActions, EpisodeSoFar } from './episode-store.js';
import { keyOf, useShortcuts } from './keys.js';

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
            <MeterRow key={meter} k={k} transition={transition} />
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

/** @param props.k the index of the meter. */
function MeterRow({ k, transition }: { readonly k: number; readonly transition: Transition }) {
  const { step, meters, deltas, anomalies, effect, typical } = transition;
  const value = meters[k];
  const isMarked = step > 0 && isPersonal(anomalies[k], k);
  return (
    <tr class={value < RHYTHM.constants.crashThreshold ? 'low' : ''}>
      <th scope="row">
        <span class="name">{METER_NAMES[k]}</span>
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

interface ActionsProps {
  readonly episode: EpisodeSoFar;
  readonly act: (action: number) => void;
  /** The button Undo, where there is one. */
  readonly undo?: ComponentChildren;
}

export function Actions({ episode, act, undo }: ActionsProps) {
  useShortcuts(Object.fromEntries(ACTION_NAMES.map((_, code) => [keyOf(code), () => act(code)])));
  const hint = HINTS[episode.moves.length] ?? null;
  return (
    <section class="panel next" aria-labelledby="next">
      <div class="head">
        <h2 id="next">What do you do?</h2>
        {undo}
        <p class="hint">
          {hint === null ? (
            `${NUM_STEPS - episode.moves.length} slots to go.`
          ) : (
            <>
              Try <strong>{plain(ACTION_NAMES[hint.action])}</strong>. {hint.question}
            </>
          )}
        </p>
      </div>
      <div class="row columns" aria-hidden="true">
        <span class="key">
          <i class="most" />
          most
          <i class="them" />
          them
        </span>
        {METER_NAMES.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {ACTION_NAMES.map((name, code) => (
        <ActionRow
          key={name}
          code={code}
          episode={episode}
          isSuggested={hint?.action === code}
          choose={() => act(code)}
        />
      ))}
    </section>
  );
}

interface ActionRowProps {
  readonly code: number;
  readonly episode: EpisodeSoFar;
  readonly isSuggested: boolean;
  readonly choose: () => void;
}

/** The last effect of an action on this person; before the action was tried, its effect on most people now. */
function ActionRow({ code, episode, isSuggested, choose }: ActionRowProps) {
  const { action, colour } = ACTION_STYLES[code];
  const last = lastTransitionOf(episode.transitions, code);
  const most = last?.typical ?? typicalOf(episode.typical, episode.moves.length, code);
  return (
    <button
      type="button"
      class={isSuggested ? 'row action suggested' : 'row action'}
      aria-keyshortcuts={keyOf(code)}
      style={{ borderLeftColor: colour }}
      onClick={choose}
    >
      <span class="name">
        {title(action)}
        <span class="cap" aria-hidden="true">
          {keyOf(code)}
        </span>
      </span>
      <span class="visually-hidden">{effectsInWords(last)}</span>
      {METER_NAMES.map((name, k) => (
        <span key={name} class="effect" aria-hidden="true">
          <i class="most" style={barOf(most[k])} />
          {last !== null && <i class="them" style={barOf(last.effect[k])} />}
          {last !== null && (
            <small class={isPersonal(last.anomalies[k], k) ? 'personal' : ''}>{signed(last.effect[k])}</small>
          )}
        </span>
      ))}
    </button>
  );
}

/** The effect that fills half of the width of a bar. Larger effects are cut off. Chosen by hand. */
const WIDEST = 0.2;

/** Places the bar of an effect, which begins at the middle. */
function barOf(effect: number) {
  const width = Math.min(50, (50 * Math.abs(effect)) / WIDEST);
  return { left: `${effect < 0 ? 50 - width : 50}%`, width: `${width}%` };
}

function effectsInWords(last: Transition | null): string {
  if (last === null) return 'not tried yet';
  const effects = METER_NAMES.map(
    (name, k) => `${name} ${signed(last.effect[k])}, most people ${signed(last.typical[k])}`,
  );
  return `last ${slotOf(last.step - 1)}: ${effects.join('; ')}`;
}

/** Milliseconds between two steps of continuous play. Chosen by hand: time to read a move, and 18 s for an episode. */
const PACE = 650;

interface ByPolicyProps {
  readonly actions: EpisodeActions;
  /** Null while the policy computes. */
  readonly next: Advice | null;
}

export function ByPolicy({ actions, next }: ByPolicyProps) {
  const { playing, step, playOrPause, state } = actions;
  // While the policy computes, the last move stays, dimmed, so that the layout does not jump.
  const last = useRef<Advice | null>(null);
  const move = next ?? last.current;
  last.current = move;
  const stepOnce = (): void => {
    if (next !== null) step();
  };
  useShortcuts({ p: playOrPause, s: stepOnce });
  useLayoutEffect(() => {
    if (!playing || next === null) return;
    const timer = setTimeout(step, PACE);
    return () => clearTimeout(timer);
  }, [playing, next]);
  return (
    <section class="panel next" aria-labelledby="next">
      <h2 id="next">What {inSentence(policyName(state.by))} does next</h2>
      <div class={next === null && move !== null ? 'stale' : ''} aria-busy={next === null}>
        {move === null ? (
          <p class="thinking">
            {isSlow(state.by) ? 'Planning: some tenths of a second a step …' : 'Deciding …'}
          </p>
        ) : (
          <>
            <p class="next-move">
              <strong>{title(ACTION_NAMES[move.action])}</strong>
            </p>
            {move.reasons === null ? (
              <p class="fine">It gives no reasons.</p>
            ) : (
              <blockquote>{move.reasons}</blockquote>
            )}
            {move.belief === null && <p class="fine">It states no belief.</p>}
          </>
        )}
      </div>
      <div class="actions">
        <Button main onClick={playOrPause}>
          {playing ? 'Pause' : 'Play'}
        </Button>
        <Button onClick={stepOnce} disabled={next === null}>
          Step
        </Button>
        <Button onClick={() => actions.setPlayer(BY_HAND)}>Take over by hand</Button>
      </div>
    </section>
  );
}

/** "the planner", but “daily rules of thumb”. */
const inSentence = (name: string): string =>
  /^(planner|student)\b/.test(name) ? `the ${name}` : `“${name}”`;
