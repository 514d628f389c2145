/** The crowd view: many episodes under one policy, or the same episodes under two. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { POLICY_NAMES } from '../../../../src/agents/policies/fixed-policies.js';
import { decimal } from '../../../../src/figures/theme.js';
import { PROFILE_NAMES } from '../../../../src/world/fields.js';
import { linkTo, type StateOf, type ViewProps } from '../../address.js';
import { crowdRun, leaveCrowd, runCrowd, stopEngine } from '../../engine/client.js';
import type { CrowdRequest } from '../../engine/requests.js';
import { FailureMessage } from '../../parts/content.js';
import { CopyLink, GraderSelect, RunButtons, Select, TextField } from '../../parts/controls.js';
import { profileWords } from '../../person/descriptions.js';
import { keyOf, PROFILE_CHOICES } from '../../person/episode.js';
import { keptNames, keptUnder } from '../../students/kept-students.js';
import { grouped, policyLabel, policyWords } from '../../words.js';
import type { Progress } from '../../workers/calls.js';
import { CROWD_FIELDS, NO_POLICY, PERSON_FIELDS } from '../fields.js';
import { CrowdResults, Finding, headlineOf, type NamedCrowd, namedCrowd } from './results.js';
import './crowd.css';

export function View({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const { progress, crowd: last, failure } = crowdRun.value;
  // A text, so that equal requests are equal values for the hooks.
  const requestText = JSON.stringify(requestOf(state));
  const students = requestOf(state).policies.flatMap(keptUnder);
  // A student may be replaced by another with the same name.
  const studentsKey = students.map(keyOf).join();
  const run = (): void => void runCrowd(requestOf(state), students);
  useLayoutEffect(run, [requestText, studentsKey]);
  useLayoutEffect(() => leaveCrowd, []);
  const crowd = useMemo(() => last && namedCrowd(last), [last]);
  const isOutdated = last === null || JSON.stringify(last.request) !== requestText;
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
      <section
        class={`${failure === null ? 'panel ' : ''}finding ${ageClass}`}
        aria-labelledby="finding"
        aria-busy={busy}
      >
        {failure !== null ? (
          <FailureMessage failure={failure} retry={run} />
        ) : crowd !== null ? (
          <Finding crowd={crowd} busy={busy} />
        ) : (
          <>
            <h2 id="finding">Computing the first weeks …</h2>
            <div class="plot-to-come" />
          </>
        )}
      </section>
      <p class="visually-hidden" role="status">
        {!busy && failure === null && inWords(crowd!)}
      </p>
      <section class="panel" aria-labelledby="crowd-choices">
        <h2 id="crowd-choices">Settings</h2>
        <Choices state={state} change={change} />
        <MoreChoices state={state} change={change} />
        <RunButtons
          label="Run the week again"
          name="Weeks computed"
          progress={progress && { ...progress, text: progressText(progress) }}
          start={run}
          stop={stopEngine}
        >
          <CopyLink view={{ name: 'crowd', fields: CROWD_FIELDS }} />
        </RunButtons>
      </section>
      {crowd !== null && failure === null && <CrowdResults crowd={crowd} busy={busy} ageClass={ageClass} />}
    </>
  );
}

/** Describes the finding for screen readers. */
function inWords(crowd: NamedCrowd): string {
  const means = crowd.policies.map(({ name, score }) => `${name} ${decimal(score.mean, 4)}`);
  return `The weeks of ${grouped(crowd.numEpisodes)} people are computed: ${headlineOf(crowd)}. Mean final scores: ${means.join(', ')}.`;
}

const progressText = ({ done, total }: Progress): string =>
  total > 1 ? `${grouped(done)} of ${grouped(total)} people` : 'Starting …';

function requestOf({ people, seed, policy, against, ...state }: StateOf<typeof CROWD_FIELDS>): CrowdRequest {
  const others = against === NO_POLICY || against === policy ? [] : [against];
  const { grader, persons: profiles } = state;
  return { numEpisodes: people, seed, policies: [policy, ...others], grader, profiles };
}

/** The numbers of people to choose from. */
const SIZES = [1000, 10_000, 100_000, 250_000, 1_000_000];

function Choices({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const { people, policy, against, grader } = state;
  const names = [...keptNames(), ...POLICY_NAMES];
  // Also the number in the address.
  const sizes = [...new Set([...SIZES, people])].sort((a, b) => a - b).map(String);
  return (
    <div class="controls crowd-choices">
      <Select
        label="Policy"
        hint={policyWords(policy)}
        value={policy}
        names={names}
        labelOf={policyLabel}
        onChange={(name) => change({ policy: name })}
      />
      <Select
        label="Compare with"
        hint={against === NO_POLICY ? undefined : policyWords(against)}
        value={against}
        names={[...names, NO_POLICY]}
        labelOf={(name) => (name === NO_POLICY ? 'no other policy' : policyLabel(name))}
        onChange={(name) => change({ against: name })}
      />
      <GraderSelect value={grader} onChange={(name) => change({ grader: name })} />
      <Select
        label="People"
        hint="More people give narrower intervals."
        value={String(people)}
        names={sizes}
        labelOf={(size) => grouped(Number(size))}
        onChange={(size) => change({ people: Number(size) })}
      />
    </div>
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
          labelOf={(name) => `${PROFILE_NAMES.includes(name) ? 'only ' : ''}${profileWords(name)}`}
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
