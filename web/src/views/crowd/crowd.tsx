/** The crowd view: many episodes under one policy, or the same episodes under two. */
import { proxy } from 'comlink';
import { useCallback, useLayoutEffect, useMemo } from 'preact/hooks';
import { decimal } from '../../../../src/figures/theme.js';
import type { StateOf } from '../../address.js';
import { linkTo } from '../../current-address.js';
import { runCrowd } from '../../engine/client.js';
import type { Crowd, CrowdRequest } from '../../engine/crowd/crowd-request.js';
import { useTask } from '../../engine/task.js';
import { grouped } from '../../parts/grouped.js';
import { FailureMessage } from '../../states/messages.js';
import { keptUnder } from '../../students/kept-students.js';
import { keyOf } from '../../students/student-files.js';
import { PERSON_FIELDS } from '../person/fields.js';
import type { ViewProps } from '../view.js';
import { CrowdControls } from './controls.js';
import { type CROWD_FIELDS, NO_POLICY } from './fields.js';
import { Finding } from './finding.js';
import { headlineOf, type NamedCrowd, namedCrowd } from './format.js';
import { CrowdResults } from './results.js';
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
