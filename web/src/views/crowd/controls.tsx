/** What is chosen of the crowd, and how far it has come. */
import { POLICY_NAMES } from '../../../../src/policies/policies.js';
import { GRADER_NAMES, PROFILE_NAMES } from '../../../../src/world/fields.js';
import type { Progress } from '../../engine/jobs.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { PERSONS } from '../../person/week.js';
import { plain } from '../../person/words.js';
import type { ViewProps } from '../view.js';
import { CROWD_FIELDS, NOBODY } from './fields.js';
import { Limits } from './limits.js';
import { count } from './words.js';

const SIZES = [1000, 10_000, 100_000, 250_000, 1_000_000];

interface Props extends ViewProps<typeof CROWD_FIELDS> {
  /** Null unless weeks are being lived. */
  readonly progress: Progress | null;
  /** Whether it is known what computes. */
  readonly ready: boolean;
  readonly again: () => void;
  readonly stop: () => void;
}

export function CrowdControls({ state, change, progress, ready, again, stop }: Props) {
  return (
    <section class="panel" aria-labelledby="crowd-choices">
      <h2 id="crowd-choices">Who lives it, and how</h2>
      <Choices state={state} change={change} />
      <Limits people={state.people} />
      <div class="actions">
        {progress === null ? (
          <Button main disabled={!ready} onClick={again}>
            Live the week again
          </Button>
        ) : (
          // The second click of two was meant for the button that stood here before.
          <Button onClick={({ detail }) => detail < 2 && stop()}>Stop</Button>
        )}
        <Course progress={progress} />
      </div>
    </section>
  );
}

function Choices({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const { people, seed, policy, against, grader, persons } = state;
  return (
    <div class="controls">
      <PeopleChoice people={people} onChange={(size) => change({ people: size })} />
      <Select
        label="Policy"
        value={policy}
        names={POLICY_NAMES}
        onChange={(name) => change({ policy: name })}
      />
      <Select
        label="Beside it"
        value={against}
        names={[...POLICY_NAMES, NOBODY]}
        words={{ [NOBODY]: 'no other policy' }}
        onChange={(name) => change({ against: name })}
      />
      <Select
        label="Grader"
        value={grader}
        names={GRADER_NAMES}
        onChange={(name) => change({ grader: name })}
      />
      <Select
        label="Persons"
        value={persons}
        names={PERSONS}
        words={PERSON_WORDS}
        onChange={(name) => change({ persons: name })}
      />
      <TextField
        label="First seed"
        hint="Person i has this plus i."
        field={CROWD_FIELDS.seed}
        value={seed}
        onChange={(value) => change({ seed: value })}
      />
    </div>
  );
}

const PERSON_WORDS = {
  discrete: 'one of three',
  ...Object.fromEntries(PROFILE_NAMES.map((name) => [name, `all ${plain(name)}`])),
};

interface PeopleChoiceProps {
  readonly people: number;
  readonly onChange: (people: number) => void;
}

/** A link may have chosen another number than there are to choose from. */
function PeopleChoice({ people, onChange }: PeopleChoiceProps) {
  const sizes = [...new Set([...SIZES, people])].sort((a, b) => a - b).map(String);
  return (
    <Select
      label="People"
      value={String(people)}
      names={sizes}
      words={Object.fromEntries(sizes.map((size) => [size, count(Number(size))]))}
      onChange={(size) => onChange(Number(size))}
    />
  );
}

function Course({ progress }: { readonly progress: Progress | null }) {
  if (progress === null) return null;
  const { done, total } = progress;
  return (
    <div class="course">
      <progress aria-label="Weeks lived" max={total} value={done} />
      <small>{total > 1 ? `${count(done)} of ${count(total)} people` : 'Beginning …'}</small>
    </div>
  );
}
