/** Ten actions to choose from. */
import { ACTION_FACES } from '../../../../src/pictures/tapes.js';
import { ACTION_NAMES, METER_NAMES } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/spec.js';
import { lastTimeOf, type Moment, slotOf } from '../../person/reading.js';
import { plain, signed, title } from '../../person/words.js';
import type { Shown } from './follow.js';
import { type Shortcuts, useShortcuts } from './keys.js';

interface ByHandProps {
  readonly shown: Shown;
  readonly act: (action: number) => void;
  readonly shortcuts: boolean;
}

/** As they lie on a keyboard: 1 to 9, then 0. */
const keyOf = (action: number): string => String((action + 1) % 10);

export function ByHand({ shown, act, shortcuts }: ByHandProps) {
  const keys: Shortcuts = Object.fromEntries(ACTION_NAMES.map((_, code) => [keyOf(code), () => act(code)]));
  useShortcuts(shortcuts, keys);
  return (
    <section class="panel next" aria-labelledby="next">
      <h2 id="next">What do you do?</h2>
      <div class="choices">
        {RHYTHM.categories.map((category) => (
          <fieldset key={category}>
            <legend>{title(category)}</legend>
            {ACTION_FACES.map(
              (face, code) =>
                face.category === category && (
                  <ActionButton key={face.action} code={code} shown={shown} onChoose={act} />
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
  readonly shown: Shown;
  readonly onChoose: (action: number) => void;
}

function ActionButton({ code, shown, onChoose }: ActionButtonProps) {
  const { action, colour } = ACTION_FACES[code];
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
      <small>{lastTimeInWords(lastTimeOf(shown.moments, code))}</small>
    </button>
  );
}

/** Changes that two decimals do not show say nothing; two are enough to remember a slot by. */
const [LEAST, MOST] = [0.005, 2];

function lastTimeInWords(moment: Moment | null): string {
  if (moment === null) return 'not tried yet';
  const changes = METER_NAMES.map((name, k) => ({ name, change: moment.deltas[k] }))
    .filter(({ change }) => Math.abs(change) >= LEAST)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .slice(0, MOST)
    .map(({ name, change }) => `${plain(name)} ${signed(change)}`);
  return `${slotOf(moment.step - 1)}: ${[...changes, `reward ${signed(moment.reward, 1)}`].join(', ')}`;
}
