/** The crowd: many people live one week under a policy, and the same people under another. */
import { proxy } from 'comlink';
import { useCallback, useLayoutEffect } from 'preact/hooks';
import { decimal } from '../../../../src/pictures/numbers.js';
import type { StateOf } from '../../address.js';
import { ask, engineFailure, lookForEngine, shownEngine } from '../../engine/client.js';
import { type Crowd, type CrowdRequest, MOST_ON_REFERENCE } from '../../engine/crowd/request.js';
import { useTask } from '../../engine/task.js';
import { Empty, FailureFace, Loading } from '../../states/faces.js';
import type { ViewProps } from '../view.js';
import { CrowdControls } from './controls.js';
import { type CROWD_FIELDS, MOST_PEOPLE, NOBODY } from './fields.js';
import { CrowdFigures } from './figures.js';
import { CrowdPictures } from './pictures.js';
import { Proof } from './proof.js';
import { count } from './words.js';
import './crowd.css';

type State = StateOf<typeof CROWD_FIELDS>;

export function CrowdView(props: ViewProps<typeof CROWD_FIELDS>) {
  const failure = engineFailure.value;
  return failure === null ? <Week {...props} /> : <FailureFace failure={failure} retry={lookForEngine} />;
}

function Week({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const task = useTask<Crowd>();
  const { progress, value, failure } = task.state.value;
  const known = shownEngine.value !== null;
  // As text, so that the same choices are the same question.
  const asked = JSON.stringify(requestOf(state, mostHere()));
  const { start } = task;
  const live = useCallback(() => {
    const request = JSON.parse(asked) as CrowdRequest;
    start((report) => ask((engine) => engine.crowd(request, proxy(report))));
  }, [asked, start]);
  useLayoutEffect(() => {
    if (known) live();
  }, [known, live]);
  return (
    <>
      <h1>A crowd lives one week</h1>
      <p class="lead">
        Everybody is somebody else: what sleep, work and company do to them differs, and stays hidden. A
        policy decides what they do in each of the week’s 28 slots; the grader says how well that went.
      </p>
      <CrowdControls {...{ state, change, progress, ready: known, again: live, stop: task.stop }} />
      <p class="heard" role="status">
        {progress === null && failure === null && value !== null && inWords(value)}
      </p>
      {!known && <Loading>Looking for a graphics device, and comparing it with the reference …</Loading>}
      {failure !== null && <FailureFace failure={failure} retry={live} />}
      {known && value === null && failure === null && <Empty>The first weeks are being lived …</Empty>}
      {value !== null && failure === null && <Results crowd={value} busy={progress !== null} />}
    </>
  );
}

/** What is read aloud when it is there. */
function inWords({ players, request }: Crowd): string {
  const means = players.map(({ name, score }) => `${name} ${decimal(score.mean, 4)}`);
  return `${count(request.people)} people have lived their week. Mean final scores: ${means.join(', ')}.`;
}

function Results({ crowd, busy }: { readonly crowd: Crowd; readonly busy: boolean }) {
  return (
    <div class={busy ? 'results old' : 'results'} aria-busy={busy}>
      <CrowdFigures crowd={crowd} />
      <CrowdPictures crowd={crowd} />
      <Proof crowd={crowd} />
    </div>
  );
}

/** As many as whatever computes here takes. */
const mostHere = (): number => (shownEngine.value?.backend === 'reference' ? MOST_ON_REFERENCE : MOST_PEOPLE);

function requestOf(state: State, most: number): CrowdRequest {
  const { seed, policy, against, grader, persons } = state;
  const people = Math.min(state.people, most);
  const beside = against === NOBODY || against === policy ? [] : [against];
  return { people, seed, policies: [policy, ...beside], grader, persons };
}
