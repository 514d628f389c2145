/** Whose week it is, by whom it is played, and the ways to another. */
import type { Signal } from '@preact/signals';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { BY_HAND, PLAYER_NAMES } from '../../person/names.js';
import { isNamed, PERSONS } from '../../person/week.js';
import { title } from '../../person/words.js';
import { PERSON_FIELDS } from './fields.js';
import type { Week } from './week.js';

interface SettingProps {
  readonly week: Week;
  /** Whether keys do what buttons do. */
  readonly shortcuts: Signal<boolean>;
}

export function SettingPanel({ week, shortcuts }: SettingProps) {
  return (
    <section class="panel" aria-label="Whose week it is">
      <Choices week={week} />
      <div class="actions">
        <Button onClick={week.anotherPerson}>Another person</Button>
        <Button onClick={week.restart}>Start again</Button>
        <Button onClick={week.undo} disabled={!week.begun}>
          Undo
        </Button>
        <KeysChoice shortcuts={shortcuts} />
      </div>
    </section>
  );
}

const PERSON_WORDS = {
  ...Object.fromEntries(PERSONS.map((name) => [name, title(name)])),
  sampled: 'Anybody',
  discrete: 'One of these three',
};

function Choices({ week: { state, set, playedBy } }: Pick<SettingProps, 'week'>) {
  const named = isNamed({ profile: state.person });
  return (
    <div class="controls">
      <Select
        label="Person"
        value={state.person}
        names={PERSONS}
        words={PERSON_WORDS}
        hint={named ? 'You named the person: nobody is hidden.' : 'Whom the seed draws.'}
        onChange={(person) => set({ person })}
      />
      <TextField
        label="Seed"
        field={PERSON_FIELDS.seed}
        value={state.seed}
        hint="The same seed: the same person and luck."
        onChange={(seed) => set({ seed })}
      />
      <Select
        label="Grader"
        value={state.grader}
        names={GRADER_NAMES}
        hint={state.grader === 'v1' ? 'Pays nothing for a belief.' : 'Pays for a true belief, too.'}
        onChange={(grader) => set({ grader })}
      />
      <Select
        label="Played by"
        value={state.by}
        names={[BY_HAND, ...PLAYER_NAMES]}
        words={{ [BY_HAND]: 'you, by hand' }}
        hint="Whoever is chosen goes on from here."
        onChange={playedBy}
      />
    </div>
  );
}

const KeysChoice = ({ shortcuts }: Pick<SettingProps, 'shortcuts'>) => (
  <label class="check keys">
    <input
      type="checkbox"
      checked={shortcuts.value}
      onChange={({ currentTarget }) => {
        shortcuts.value = currentTarget.checked;
      }}
    />
    <span>
      Keys: <kbd>1</kbd> to <kbd>9</kbd> and <kbd>0</kbd> act, <kbd>u</kbd> undoes, <kbd>n</kbd> another
      person, <kbd>s</kbd> steps, <kbd>p</kbd> plays
    </span>
  </label>
);
