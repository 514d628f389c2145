/** The crowd view: many episodes under one policy, and the same episodes under a second policy. */
import { proxy } from 'comlink';
import { useCallback, useLayoutEffect } from 'preact/hooks';
import { decimal } from '../../../../src/figures/format-numbers.js';
import type { StateOf } from '../../address.js';
import { callEngine, currentEngine, engineFailure, showEngine } from '../../engine/client.js';
import { type Crowd, type CrowdRequest, MAX_ON_REFERENCE } from '../../engine/crowd/crowd-request.js';
import { useTask } from '../../engine/task.js';
import { Empty, FailureMessage, Loading } from '../../states/messages.js';
import type { ViewProps } from '../view.js';
import { CrowdControls } from './controls.js';
import { Digests } from './digests.js';
import { type CROWD_FIELDS, MAX_PEOPLE, NO_POLICY } from './fields.js';
import { CrowdFigures } from './figures.js';
import { count } from './format.js';
import { CrowdPictures } from './pictures.js';
import './crowd.css';

type State = StateOf<typeof CROWD_FIELDS>;

export function CrowdView(props: ViewProps<typeof CROWD_FIELDS>) {
  const failure = engineFailure.value;
  return failure === null ? <Crowds {...props} /> : <FailureMessage failure={failure} retry={showEngine} />;
}

function Crowds({ state, change }: ViewProps<typeof CROWD_FIELDS>) {
  const task = useTask<Crowd>();
  const { progress, value, failure } = task.state.value;
  const isReady = currentEngine.value !== null;
  // As text, so that equal settings are equal values.
  const requestText = JSON.stringify(requestOf(state, maxEpisodes()));
  const { start } = task;
  const run = useCallback(() => {
    const request = JSON.parse(requestText) as CrowdRequest;
    start((report) => callEngine((engine) => engine.crowd(request, proxy(report))));
  }, [requestText, start]);
  useLayoutEffect(() => {
    if (isReady) run();
  }, [isReady, run]);
  return (
    <>
      <h1>A crowd lives one week</h1>
      <p class="lead">
        Each person responds differently to sleep, work and company, and these differences stay hidden. A
        policy chooses an action for each of the week’s 28 slots; the grader scores the week.
      </p>
      <CrowdControls {...{ state, change, progress, ready: isReady, rerun: run, stop: task.stop }} />
      <p class="visually-hidden" role="status">
        {progress === null && failure === null && value !== null && inWords(value)}
      </p>
      {!isReady && <Loading>Looking for a graphics device, and comparing it with the reference …</Loading>}
      {failure !== null && <FailureMessage failure={failure} retry={run} />}
      {isReady && value === null && failure === null && <Empty>Computing the first weeks …</Empty>}
      {value !== null && failure === null && <Results crowd={value} busy={progress !== null} />}
    </>
  );
}

/** Returns the text for screen readers. */
function inWords({ policies, request }: Crowd): string {
  const means = policies.map(({ name, score }) => `${name} ${decimal(score.mean, 4)}`);
  return `${count(request.numEpisodes)} people have lived their week. Mean final scores: ${means.join(', ')}.`;
}

function Results({ crowd, busy }: { readonly crowd: Crowd; readonly busy: boolean }) {
  return (
    <div class={busy ? 'results old' : 'results'} aria-busy={busy}>
      <CrowdFigures crowd={crowd} />
      <CrowdPictures crowd={crowd} />
      <Digests crowd={crowd} />
    </div>
  );
}

/** Returns the maximum number of episodes that the backend accepts. */
const maxEpisodes = (): number =>
  currentEngine.value?.backend === 'reference' ? MAX_ON_REFERENCE : MAX_PEOPLE;

function requestOf(state: State, limit: number): CrowdRequest {
  const { seed, policy, against, grader, persons } = state;
  const numEpisodes = Math.min(state.people, limit);
  const others = against === NO_POLICY || against === policy ? [] : [against];
  return { numEpisodes, seed, policies: [policy, ...others], grader, profiles: persons };
}
