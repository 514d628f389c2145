/** The setting of the episode: person, seed, grader and player. */
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { Select, TextField } from '../../parts/controls.js';
import { CopyLink } from '../../parts/copy-button.js';
import { title } from '../../person/descriptions.js';
import { isNamed, PROFILE_CHOICES } from '../../person/episode-types.js';
import { BY_HAND, PLAYER_NAMES } from '../../person/player-names.js';
import { keptStudents } from '../../students/kept-students.js';
import { GRADER_WORDS, policyWords } from '../../words.js';
import type { EpisodeActions } from './episode-actions.js';
import { PERSON_FIELDS, type PersonState } from './fields.js';

export const Setting = ({ actions }: { readonly actions: EpisodeActions }) => (
  <details>
    <summary>Setting: {settingWords(actions.state)}</summary>
    <Choices actions={actions} />
    <div class="actions">
      <CopyLink view={{ name: 'person', fields: PERSON_FIELDS }} />
    </div>
  </details>
);

const PROFILE_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PROFILE_CHOICES.map((name) => [name, title(name)])),
  sampled: 'Anybody',
  discrete: 'One of the three named people',
};

/** Describes the setting in a line: "anybody, seed 4242, grader v2, played by you". */
const settingWords = ({ person, seed, grader, by }: PersonState): string =>
  `${PROFILE_LABELS[person].toLowerCase()}, seed ${seed}, grader ${grader}, played by ${by === BY_HAND ? 'you' : by}`;

function Choices({ actions: { state, set, setPlayer } }: { readonly actions: EpisodeActions }) {
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
