/** The ten actions as rows of a table that fills during the week: the last effect of each action on this person. */
import type { ComponentChildren } from 'preact';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACTION_NAMES, METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { plain, signed, title } from '../../person/descriptions.js';
import { HINTS } from '../../person/guide.js';
import { isPersonal } from '../../person/luck.js';
import { lastTransitionOf, slotOf, type Transition, typicalOf } from '../../person/transitions.js';
import type { EpisodeSoFar } from './episode-store.js';
import { keyOf, type Shortcuts, useShortcuts } from './keys.js';

interface ActionsProps {
  readonly episode: EpisodeSoFar;
  readonly act: (action: number) => void;
  /** The button Undo, where there is one. */
  readonly undo?: ComponentChildren;
}

export function Actions({ episode, act, undo }: ActionsProps) {
  const keys: Shortcuts = Object.fromEntries(ACTION_NAMES.map((_, code) => [keyOf(code), () => act(code)]));
  useShortcuts(keys);
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
          last={lastTransitionOf(episode.transitions, code)}
          typical={typicalOf(episode.typical, episode.moves.length, code)}
          isSuggested={hint?.action === code}
          onChoose={act}
        />
      ))}
    </section>
  );
}

interface ActionRowProps {
  readonly code: number;
  /** The last step with this action; null before it was tried. */
  readonly last: Transition | null;
  /** [5]: the effect on most people now, which is shown before the action was tried. */
  readonly typical: readonly number[];
  readonly isSuggested: boolean;
  readonly onChoose: (action: number) => void;
}

function ActionRow({ code, last, typical, isSuggested, onChoose }: ActionRowProps) {
  const { action, colour } = ACTION_STYLES[code];
  const most = last?.typical ?? typical;
  return (
    <button
      type="button"
      class={isSuggested ? 'row action suggested' : 'row action'}
      aria-keyshortcuts={keyOf(code)}
      style={{ borderLeftColor: colour }}
      onClick={() => onChoose(code)}
    >
      <span class="name">
        {title(action)}
        <span class="cap" aria-hidden="true">
          {keyOf(code)}
        </span>
      </span>
      <span class="visually-hidden">{inWords(last)}</span>
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

function inWords(last: Transition | null): string {
  if (last === null) return 'not tried yet';
  const effects = METER_NAMES.map(
    (name, k) => `${name} ${signed(last.effect[k])}, most people ${signed(last.typical[k])}`,
  );
  return `last ${slotOf(last.step - 1)}: ${effects.join('; ')}`;
}
