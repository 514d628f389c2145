/** The view of one person, whose week is played by hand or by a policy. The profile is shown after the last step only. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { startState } from '../../address.js';
import { colourOf } from '../../charts/policy-colours.js';
import { Button } from '../../parts/controls.js';
import { BY_HAND, NOBODY } from '../../person/player-names.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import type { ViewProps } from '../view.js';
import { Announcements } from './announcements.js';
import { PolicyBelief } from './belief.js';
import { ByPolicy } from './by-policy.js';
import { type EpisodeActions, episodeActions } from './episode-actions.js';
import {
  adviceAt,
  currentEpisode,
  type EpisodeSoFar,
  failure,
  follow,
  isOutdated,
  settingOf,
  stopFollowing,
} from './episode-store.js';
import { addressOf, PERSON_FIELDS } from './fields.js';
import { useShortcuts } from './keys.js';
import { Now } from './now.js';
import { Result } from './result.js';
import type { Outline } from './ring.js';
import { rivalNames, useRivals } from './rivals.js';
import { Setting } from './setting.js';
import { sliderBeliefAfter, statedBelief } from './slider-belief.js';
import { Folds, inferredOutline, Playing, rivalOutline, Strip } from './week.js';
import '../../parts/marks.css';
import './person.css';
import './result.css';

export function PersonView(props: ViewProps<typeof PERSON_FIELDS>) {
  const { state } = props;
  const address = addressOf(state);
  const playingAt = useSignal<string | null>(null);
  const replay = (): void => void follow(state);
  useLayoutEffect(() => {
    // Continuous play ends when the user goes to another address. It does not resume when the user returns.
    if (playingAt.peek() !== address) playingAt.value = null;
    replay();
    return stopFollowing;
  }, [address]);
  const actions = episodeActions(props, playingAt);
  useShortcuts({ u: actions.undo, n: actions.newSeed });
  const episode = currentEpisode.value;
  useRivals(settingOf(state), state.against, state.moves.length + state.at);
  return (
    <div class="person" style={{ '--player': colourOf(state.by) }}>
      <h1>You have one week with a stranger. Watch how they respond, and find out who they are.</h1>
      {failure.value !== null && <FailureMessage failure={failure.value} retry={replay} />}
      {failure.value === null && episode === null && <Loading>Starting the week …</Loading>}
      {episode !== null && <Week episode={episode} actions={actions} />}
    </div>
  );
}

/** The state whose seed, person and grader a shared link changes. */
const START = startState(PERSON_FIELDS);

interface WeekProps {
  readonly episode: EpisodeSoFar;
  readonly actions: EpisodeActions;
}

function Week(props: WeekProps) {
  const { episode, actions } = props;
  const { seed, person, grader, by, against } = actions.state;
  const wasRunning = useRef(false);
  wasRunning.current ||= episode.result === null;
  return (
    <>
      <Announcements episode={episode} playing={actions.playing} />
      <div class="week" aria-busy={isOutdated(episode, actions.state)}>
        {episode.result !== null ? (
          <Result
            episode={episode}
            result={episode.result}
            finishedHere={wasRunning.current}
            player={by}
            rivals={rivalNames(episode.setting.grader, against)}
            title="Can you read a stranger?"
            link={new URL(addressOf({ ...START, seed, person, grader }), location.href).href}
          />
        ) : by === BY_HAND ? (
          <ByHand key={`${seed} ${person}`} {...props} />
        ) : (
          <Watching {...props} />
        )}
        <div class="bar">
          <Strip episode={episode} />
          {(episode.result !== null || by !== BY_HAND) && <Undo actions={actions} />}
          <Button onClick={actions.restart}>Start again</Button>
          <Button onClick={actions.newSeed}>Another person</Button>
        </div>
        <div class="folds">
          <Setting actions={actions} />
          <Folds
            episode={episode}
            player={by}
            against={against}
            race={actions.setRival}
            keys={
              <>
                , <kbd>u</kbd> undoes, <kbd>n</kbd> chooses another person, <kbd>s</kbd> steps, <kbd>p</kbd>{' '}
                plays
              </>
            }
          />
        </div>
      </div>
    </>
  );
}

const Undo = ({ actions }: { readonly actions: EpisodeActions }) => (
  <Button onClick={actions.undo} disabled={!actions.canUndo}>
    Undo
  </Button>
);

/** Each action states the belief of the sliders, once one was moved. */
function ByHand({ episode, actions }: WeekProps) {
  const { moves, against } = actions.state;
  const belief = useSignal(sliderBeliefAfter(moves));
  const act = (action: number): void => actions.act({ action, belief: statedBelief(belief.value) });
  const other = against === NOBODY ? inferredOutline() : rivalOutline(episode, against);
  return (
    <Playing episode={episode} belief={belief} other={other} act={act} undo={<Undo actions={actions} />} />
  );
}

/** A policy plays. */
function Watching({ episode, actions }: WeekProps) {
  const { seed, person, by } = actions.state;
  const next = adviceAt(addressOf(actions.state));
  const values = (next ?? episode.moves.at(-1))?.belief ?? null;
  const outlines: (Outline | null)[] = [
    values && { kind: 'filled', label: by, values, colour: 'var(--player)' },
    inferredOutline(),
  ];
  return (
    <div class="board">
      <Now episode={episode} />
      <ByPolicy key={`${seed} ${person} ${by}`} actions={actions} next={next} />
      <PolicyBelief outlines={outlines.filter((outline) => outline !== null)} />
    </div>
  );
}
