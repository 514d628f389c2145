/** The crowd's settings and progress. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { POLICY_NAMES } from '../../../../src/agents/policies/fixed-policies.js';
import { GRADER_NAMES, PROFILE_NAMES } from '../../../../src/world/fields.js';
import type { Progress } from '../../engine/jobs.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { CopyLink } from '../../parts/copy-button.js';
import { grouped } from '../../parts/grouped.js';
import { plain } from '../../person/descriptions.js';
import { PROFILE_CHOICES } from '../../person/episode-types.js';
import { keptStudents } from '../../students/kept-students.js';
import { GRADER_WORDS, policyLabels, policyWords } from '../../words.js';
import type { ViewProps } from '../view.js';
import { CROWD_FIELDS, NO_POLICY } from './fields.js';

/** The numbers of people to choose from. */
const SIZES = [1000, 10_000, 100_000, 250_000, 1_000_000];

interface Props extends ViewProps<typeof CROWD_FIELDS> {
  /** Null unless a computation is in progress. */
  readonly progress: Progress | null;
  readonly rerun: () => void;
  readonly stop: () => void;
}

export function CrowdControls({ state, change, progress, rerun, stop }: Props) {
  return (
    <section class="panel" aria-labelledby="crowd-choices">
      <h2 id="crowd-choices">Settings</h2>
      <Choices state={state} change={change} />
      <div class="actions">
        {progress === null ? (
          <Button main onClick={rerun}>
            Run the week again
          </Button>
        ) : (
          // A double click on the previous button must not stop the new run.
          <Button onClick={({ detail }) => detail < 2 && stop()}>Stop</Button>
        )}
        {/* Not in a fragment with the button above: Preact would then replace the focused button. */}
        {progress === null && <CopyLink view={{ name: 'crowd', fields: CROWD_FIELDS }} />}
        <ProgressBar progress={progress} />
      </div>
    </section>
  );
}

function Choices({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const { people, policy, against, grader } = state;
  const names = [...keptStudents.value.map(({ name }) => name), ...POLICY_NAMES];
  return (
    <>
      <div class="controls crowd-choices">
        <Select
          label="Policy"
          hint={policyWords(policy)}
          value={policy}
          names={names}
          labels={policyLabels(names)}
          onChange={(name) => change({ policy: name })}
        />
        <Select
          label="Compare with"
          hint={against === NO_POLICY ? undefined : policyWords(against)}
          value={against}
          names={[...names, NO_POLICY]}
          labels={{ ...policyLabels(names), [NO_POLICY]: 'no other policy' }}
          onChange={(name) => change({ against: name })}
        />
        <Select
          label="Grader"
          hint={GRADER_WORDS[grader]}
          value={grader}
          names={GRADER_NAMES}
          onChange={(name) => change({ grader: name })}
        />
        <PeopleChoice people={people} onChange={(size) => change({ people: size })} />
      </div>
      <MoreChoices state={state} change={change} />
    </>
  );
}

/** Settings that few visitors need. They are unfolded if one of them differs from its default. */
function MoreChoices({ state: { seed, persons: kind }, change }: ViewProps<typeof CROWD_FIELDS>) {
  const isChanged = seed !== CROWD_FIELDS.seed.initial || kind !== CROWD_FIELDS.persons.initial;
  const details = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (isChanged) details.current!.open = true;
  }, [isChanged]);
  return (
    <details ref={details}>
      <summary>Which people</summary>
      <div class="controls">
        <Select
          label="Kind of person"
          value={kind}
          names={PROFILE_CHOICES}
          labels={PROFILE_LABELS}
          onChange={(name) => change({ persons: name })}
        />
        <TextField
          label="First seed"
          hint="Person i, counted from 0, has this seed plus i."
          field={CROWD_FIELDS.seed}
          value={seed}
          onChange={(value) => change({ seed: value })}
        />
      </div>
    </details>
  );
}

const PROFILE_LABELS = {
  sampled: 'anybody',
  discrete: 'one of the three named people',
  ...Object.fromEntries(PROFILE_NAMES.map((name) => [name, `only ${plain(name)}`])),
};

interface PeopleChoiceProps {
  readonly people: number;
  readonly onChange: (people: number) => void;
}

/** Offers SIZES and the number in the address. */
function PeopleChoice({ people, onChange }: PeopleChoiceProps) {
  const sizes = [...new Set([...SIZES, people])].sort((a, b) => a - b).map(String);
  return (
    <Select
      label="People"
      hint="More people give narrower intervals."
      value={String(people)}
      names={sizes}
      labels={Object.fromEntries(sizes.map((size) => [size, grouped(Number(size))]))}
      onChange={(size) => onChange(Number(size))}
    />
  );
}

function ProgressBar({ progress }: { readonly progress: Progress | null }) {
  if (progress === null) return null;
  const { done, total } = progress;
  return (
    <div class="progress">
      <progress aria-label="Weeks computed" max={total} value={done} />
      <small>{total > 1 ? `${grouped(done)} of ${grouped(total)} people` : 'Starting …'}</small>
    </div>
  );
}
