/** The setting of the episode (person, seed, grader, player), and buttons such as "Start again". */
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { CopyLink } from '../../parts/copy-button.js';
import { title } from '../../person/descriptions.js';
import { isNamed, PROFILE_CHOICES } from '../../person/episode-types.js';
import { BY_HAND, PLAYER_NAMES } from '../../person/player-names.js';
import { keptStudents } from '../../students/kept-students.js';
import { GRADER_WORDS, policyWords } from '../../words.js';
import type { EpisodeActions } from './episode-actions.js';
import { PERSON_FIELDS, type PersonState } from './fields.js';
import { ActionKeys, KeysChoice } from './keys-choice.js';
import { UndoButton } from './undo-button.js';

interface SettingProps {
  readonly actions: EpisodeActions;
  /** Whether the week is over. Until then, the button Undo is beside the actions. */
  readonly isFinished: boolean;
}

export function SettingPanel({ actions, isFinished }: SettingProps) {
  return (
    <section class="panel" aria-label="Setting">
      {/* Closed at first, so that the action buttons are higher on the page. */}
      <details>
        <summary>Setting: {settingWords(actions.state)}</summary>
        <Choices actions={actions} />
      </details>
      <div class="actions">
        <Button onClick={actions.newSeed}>Another person</Button>
        <Button onClick={actions.restart}>Start again</Button>
        {isFinished && <UndoButton actions={actions} />}
        {isFinished && <CopyLink view={{ name: 'person', fields: PERSON_FIELDS }} />}
        <KeysChoice>
          <ActionKeys /> act, <kbd>u</kbd> undoes, <kbd>n</kbd> chooses another person, <kbd>s</kbd> steps,{' '}
          <kbd>p</kbd> plays
        </KeysChoice>
      </div>
    </section>
  );
}

const PROFILE_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PROFILE_CHOICES.map((name) => [name, title(name)])),
  sampled: 'Anybody',
  discrete: 'One of the three named people',
};

/** Describes the setting in a line: "anybody, seed 4242, grader v2, played by you". */
const settingWords = ({ person, seed, grader, by }: PersonState): string =>
  `${PROFILE_LABELS[person].toLowerCase()}, seed ${seed}, grader ${grader}, played by ${by === BY_HAND ? 'you' : by}`;

function Choices({ actions: { state, set, setPlayer } }: Pick<SettingProps, 'actions'>) {
  const named = isNamed({ profile: state.person });
  return (
    <div class="controls">
      <Select
        label="Person"
        value={state.person}
        names={PROFILE_CHOICES}
        labels={PROFILE_LABELS}
        hint={named ? 'You named the person, so nothing is hidden.' : 'The seed determines the person.'}
        onChange={(person) => set({ person })}
      />
      <TextField
        label="Seed"
        field={PERSON_FIELDS.seed}
        value={state.seed}
        hint="The same seed gives the same person and luck."
        onChange={(seed) => set({ seed })}
      />
      <Select
        label="Grader"
        value={state.grader}
        names={GRADER_NAMES}
        hint={GRADER_WORDS[state.grader]}
        onChange={(grader) => set({ grader })}
      />
      <Select
        label="Played by"
        value={state.by}
        names={[BY_HAND, ...keptStudents.value.map(({ name }) => name), ...PLAYER_NAMES]}
        labels={{ [BY_HAND]: 'you, by hand' }}
        hint={state.by === BY_HAND ? 'Continues from the current slot.' : policyWords(state.by)}
        onChange={setPlayer}
      />
    </div>
  );
}
