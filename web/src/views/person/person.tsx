/** The view of one episode, played by hand or by a policy. The profile is shown after the last step only. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { colourOf } from '../../charts/policy-colours.js';
import { BY_HAND, NOBODY, PLAYER_NAMES } from '../../person/player-names.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import { Race } from '../daily/race.js';
import { playRivals, rivalNamed } from '../daily/rivals.js';
import type { ViewProps } from '../view.js';
import { Announcements } from './announcements.js';
import { BeliefSliders } from './belief.js';
import { ByHand } from './by-hand.js';
import { ByPolicy } from './by-policy.js';
import { CurrentState } from './current-state.js';
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
import { addressOf, type PERSON_FIELDS } from './fields.js';
import { useShortcuts } from './keys.js';
import { MeterStrip } from './meter-strip.js';
import { Result } from './result.js';
import { SettingPanel } from './setting.js';
import { sliderBeliefAfter, statedBelief } from './slider-belief.js';
import { Timeline } from './timeline.js';
import '../../parts/marks.css';
import './current-state.css';
import './result.css';
import './person.css';
import '../daily/daily.css';

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
  useLayoutEffect(() => {
    if (state.against !== NOBODY) void playRivals(settingOf(state), [state.against]);
  }, [JSON.stringify(settingOf(state)), state.against]);
  const actions = episodeActions(props, playingAt);
  useShortcuts({ u: actions.undo, n: actions.newSeed });
  return (
    <div class="person" style={{ '--player': colourOf(state.by) }}>
      <h1>One person</h1>
      <p class="lead">
        A week of 28 slots with a person you do not know. Each person responds differently: watch what each
        action does, state what you believe about them, and see at the end who it was.
      </p>
      <SettingPanel actions={actions} isFinished={(currentEpisode.value?.result ?? null) !== null} />
      {state.against !== NOBODY && (
        <p class="note racing">
          You race {state.against}. Its belief moves beside yours, below the actions and in the chart; its
          score comes at the end.
        </p>
      )}
      {failure.value !== null && <FailureMessage failure={failure.value} retry={replay} />}
      {failure.value === null && currentEpisode.value === null && <Loading>Starting the week …</Loading>}
      {currentEpisode.value !== null && <EpisodePanels episode={currentEpisode.value} actions={actions} />}
    </div>
  );
}

interface EpisodePanelsProps {
  readonly episode: EpisodeSoFar;
  readonly actions: EpisodeActions;
}

function EpisodePanels(props: EpisodePanelsProps) {
  const { episode, actions } = props;
  const { seed, person, by, against } = actions.state;
  const wasRunning = useRef(false);
  wasRunning.current ||= episode.result === null;
  return (
    <>
      <Announcements episode={episode} playing={actions.playing} />
      <div class="week" aria-busy={isOutdated(episode, actions.state)}>
        {episode.result !== null ? (
          <Result episode={episode} result={episode.result} finishedHere={wasRunning.current} />
        ) : by === BY_HAND ? (
          <HandAndBelief key={`${seed} ${person}`} {...props} />
        ) : (
          <div class="now-and-next">
            <MeterStrip episode={episode} />
            <CurrentState episode={episode} />
            <ByPolicy
              key={`${seed} ${person} ${by}`}
              actions={actions}
              next={adviceAt(addressOf(actions.state))}
            />
          </div>
        )}
        <Timeline
          episode={episode}
          player={by}
          rival={against === by ? null : rivalNamed(episode.setting, against)}
        />
      </div>
    </>
  );
}

/** Plays by hand. Each action states the belief of the sliders, if the checkbox is checked. */
function HandAndBelief({ episode, actions }: EpisodePanelsProps) {
  const belief = useSignal(sliderBeliefAfter(actions.state.moves));
  const act = (action: number): void => actions.act({ action, belief: statedBelief(belief.value) });
  return (
    <>
      <div class="by-hand">
        <MeterStrip episode={episode} />
        <CurrentState episode={episode} />
        <ByHand episode={episode} actions={actions} act={act} />
        <BeliefSliders belief={belief} />
      </div>
      <Race
        setting={episode.setting}
        moves={episode.moves}
        names={PLAYER_NAMES}
        against={actions.state.against}
        choose={actions.setRival}
      />
    </>
  );
}
