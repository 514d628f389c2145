/** The crowd view: many episodes under one policy, or the same episodes under two. */
import { proxy } from 'comlink';
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { POLICY_NAMES } from '../../../../src/agents/policies/fixed-policies.js';
import { decimal } from '../../../../src/figures/theme.js';
import { GRADER_NAMES, PROFILE_NAMES } from '../../../../src/world/fields.js';
import type { ViewProps } from '../../address.js';
import { linkTo, type StateOf } from '../../address.js';
import { runCrowd, useTask } from '../../engine/client.js';
import type { Crowd, CrowdRequest } from '../../engine/requests.js';
import { FailureMessage } from '../../parts/content.js';
import { Button, CopyLink, Select, TextField } from '../../parts/controls.js';
import { plain } from '../../person/descriptions.js';
import { keyOf, PROFILE_CHOICES } from '../../person/episode.js';
import { keptStudents, keptUnder } from '../../students/kept-students.js';
import { GRADER_WORDS, grouped, policyLabels, policyWords } from '../../words.js';
import type { Progress } from '../../workers/calls.js';
import { CROWD_FIELDS, NO_POLICY, PERSON_FIELDS } from '../fields.js';
import { CrowdResults, Finding, headlineOf, type NamedCrowd, namedCrowd } from './results.js';
import '../../charts/charts.css';
import './crowd.css';

type State = StateOf<typeof CROWD_FIELDS>;

export function CrowdView({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const task = useTask<Crowd>();
  const { progress, value, failure } = task.state.value;
  // A text, so that equal requests are equal values for the hooks.
  const requestText = JSON.stringify(requestOf(state));
  const students = requestOf(state).policies.flatMap(keptUnder);
  // A student may be replaced by another with the same name.
  const studentsKey = students.map(keyOf).join();
  const { start } = task;
  const run = useCallback(() => {
    const request = JSON.parse(requestText) as CrowdRequest;
    start((report) => runCrowd((engine) => engine.crowd(request, students, proxy(report))));
  }, [requestText, studentsKey, start]);
  useLayoutEffect(run, [run]);
  const crowd = useMemo(() => value && namedCrowd(value), [value]);
  const isOutdated = value === null || JSON.stringify(value.request) !== requestText;
  const busy = progress !== null || isOutdated;
  const ageClass = isOutdated ? 'old' : '';
  return (
    <>
      <h1>The same week with {grouped(state.people)} people</h1>
      <p class="lead">
        Two policies play the same {grouped(state.people)} strangers: see for how many of them one is better.
        A single stranger, <a href={linkTo({ name: 'person', fields: PERSON_FIELDS })}>as you meet one</a>,
        says little about a policy.
      </p>
      <section class={`panel finding ${ageClass}`} aria-labelledby="finding" aria-busy={busy}>
        {failure !== null ? (
          <FailureMessage failure={failure} retry={run} />
        ) : crowd !== null ? (
          <Finding crowd={crowd} busy={busy} />
        ) : (
          <FirstWeeks />
        )}
      </section>
      <p class="visually-hidden" role="status">
        {!busy && failure === null && inWords(crowd!)}
      </p>
      <CrowdControls state={state} change={change} progress={progress} rerun={run} stop={task.stop} />
      {crowd !== null && failure === null && <CrowdResults crowd={crowd} busy={busy} ageClass={ageClass} />}
    </>
  );
}

/** Shown instead of the finding (finding.tsx) until the first weeks are computed. */
const FirstWeeks = () => (
  <>
    <h2 id="finding">Computing the first weeks …</h2>
    <div class="plot-to-come" />
  </>
);

/** Describes the finding for screen readers. */
function inWords(crowd: NamedCrowd): string {
  const means = crowd.policies.map(({ name, score }) => `${name} ${decimal(score.mean, 4)}`);
  return `The weeks of ${grouped(crowd.numEpisodes)} people are computed: ${headlineOf(crowd)}. Mean final scores: ${means.join(', ')}.`;
}

function requestOf(state: State): CrowdRequest {
  const { people, seed, policy, against, grader, persons } = state;
  const others = against === NO_POLICY || against === policy ? [] : [against];
  return { numEpisodes: people, seed, policies: [policy, ...others], grader, profiles: persons };
}

/** The numbers of people to choose from. */
const SIZES = [1000, 10_000, 100_000, 250_000, 1_000_000];

interface Props extends ViewProps<typeof CROWD_FIELDS> {
  /** Null unless a computation is in progress. */
  readonly progress: Progress | null;
  readonly rerun: () => void;
  readonly stop: () => void;
}

function CrowdControls({ state, change, progress, rerun, stop }: Props) {
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
