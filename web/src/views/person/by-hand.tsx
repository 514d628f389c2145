/** Buttons and keyboard shortcuts for the ten actions. */
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { ACTION_NAMES, METER_NAMES } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { plain, signed, title } from '../../person/descriptions.js';
import { lastTransitionOf, slotOf, type Transition } from '../../person/transitions.js';
import type { EpisodeActions } from './episode-actions.js';
import type { EpisodeSoFar } from './episode-store.js';
import { keyOf, type Shortcuts, useShortcuts } from './keys.js';
import { UndoButton } from './undo-button.js';

interface ByHandProps {
  readonly episode: EpisodeSoFar;
  /** The handlers of the button Undo. Without them the button is left out. */
  readonly actions?: EpisodeActions;
  readonly act: (action: number) => void;
}

export function ByHand({ episode, actions, act }: ByHandProps) {
  const keys: Shortcuts = Object.fromEntries(ACTION_NAMES.map((_, code) => [keyOf(code), () => act(code)]));
  useShortcuts(keys);
  return (
    <section class="panel next" aria-labelledby="next">
      <div class="head">
        <h2 id="next">What do you do?</h2>
        {actions !== undefined && <UndoButton actions={actions} />}
      </div>
      <div class="choices">
        {RHYTHM.categories.map((category) => (
          <fieldset key={category}>
            <legend>{title(category)}</legend>
            {ACTION_STYLES.map(
              (style, code) =>
                style.category === category && (
                  <ActionButton key={style.action} code={code} episode={episode} onChoose={act} />
                ),
            )}
          </fieldset>
        ))}
      </div>
    </section>
  );
}

interface ActionButtonProps {
  readonly code: number;
  readonly episode: EpisodeSoFar;
  readonly onChoose: (action: number) => void;
}

function ActionButton({ code, episode, onChoose }: ActionButtonProps) {
  const { action, colour } = ACTION_STYLES[code];
  return (
    <button
      type="button"
      class="action"
      aria-keyshortcuts={keyOf(code)}
      style={{ borderLeftColor: colour }}
      onClick={() => onChoose(code)}
    >
      <span class="name">{title(action)}</span>
      <span class="cap" aria-hidden="true">
        {keyOf(code)}
      </span>
      <small>{summary(lastTransitionOf(episode.transitions, code))}</small>
    </button>
  );
}

/**
 * The smallest change of a meter that is listed: smaller ones round to 0.00. And the maximum number of changes listed,
 * chosen by hand so that a button's text stays short.
 */
const [MIN_CHANGE, MAX_CHANGES] = [0.005, 2];

function summary(transition: Transition | null): string {
  if (transition === null) return 'not tried yet';
  const changes = METER_NAMES.map((name, k) => ({ name, change: transition.deltas[k] }))
    .filter(({ change }) => Math.abs(change) >= MIN_CHANGE)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .slice(0, MAX_CHANGES)
    .map(({ name, change }) => `${plain(name)} ${signed(change)}`);
  return `${slotOf(transition.step - 1)}: ${[...changes, `reward ${signed(transition.reward, 1)}`].join(', ')}`;
}
