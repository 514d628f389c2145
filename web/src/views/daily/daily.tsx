/** The daily episode: the same person for everybody, 28 actions, no undo. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { colourOf } from '../../charts/policy-colours.js';
import { DAILY_GRADER, seedOfDay, today } from '../../daily/daily.js';
import type { EpisodeResult, EpisodeSetting, Move } from '../../person/episode-types.js';
import { BY_HAND, NOBODY } from '../../person/player-names.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import { Announcements } from '../person/announcements.js';
import { BeliefSliders } from '../person/belief.js';
import { ByHand } from '../person/by-hand.js';
import { CurrentState } from '../person/current-state.js';
import {
  currentEpisode,
  type EpisodeSoFar,
  failure,
  follow,
  isOutdated,
  stopFollowing,
} from '../person/episode-store.js';
import { addressOf, type PersonState } from '../person/fields.js';
import { ActionKeys, KeysChoice } from '../person/keys-choice.js';
import { MeterStrip } from '../person/meter-strip.js';
import { Result } from '../person/result.js';
import { sliderBeliefAfter, statedBelief } from '../person/slider-belief.js';
import { Timeline } from '../person/timeline.js';
import type { ViewProps } from '../view.js';
import { addMove, movesOf } from './daily-moves.js';
import type { DAILY_FIELDS } from './fields.js';
import { Race } from './race.js';
import { playRivals, RIVALS, rivalNamed } from './rivals.js';
import { Share } from './share.js';
import '../../parts/marks.css';
import '../person/current-state.css';
import '../person/result.css';
import '../person/person.css';
import './daily.css';

export function DailyView({ state }: ViewProps<typeof DAILY_FIELDS>) {
  const day = state.day || today();
  return (
    <div class="person daily" key={day} style={{ '--player': colourOf(BY_HAND) }}>
      <h1>Can you read a stranger?</h1>
      <p class="lead">
        {day}: one person, the same for everybody. Choose 28 actions, watch how this person responds, and
        state what you believe about them. Grader v3 pays for a good week and for accurate beliefs from the
        third day on. There is no undo.
      </p>
      <Day day={day} />
    </div>
  );
}

const settingOf = (day: string): EpisodeSetting => ({
  seed: seedOfDay(day),
  profile: 'sampled',
  grader: DAILY_GRADER,
});

function Day({ day }: { readonly day: string }) {
  const moves = movesOf(day);
  const against = useSignal(NOBODY);
  const state: PersonState = {
    seed: seedOfDay(day),
    person: 'sampled',
    grader: DAILY_GRADER,
    moves,
    by: BY_HAND,
    against: NOBODY,
    at: 0,
  };
  const replay = (): void => void follow(state);
  useLayoutEffect(() => {
    replay();
    return stopFollowing;
  }, [addressOf(state)]);
  useLayoutEffect(() => {
    void playRivals(settingOf(day), RIVALS);
  }, [state.seed]);
  if (failure.value !== null) return <FailureMessage failure={failure.value} retry={replay} />;
  const episode = currentEpisode.value;
  // At first the store may have the episode of another view or of another day.
  if (episode === null || isOutdated(episode, state)) return <Loading>Starting the week …</Loading>;
  return (
    <div class="week">
      <Announcements episode={episode} playing={false} />
      {episode.result === null ? (
        <Playing day={day} episode={episode} moves={moves} against={against} />
      ) : (
        <Finished day={day} episode={episode} result={episode.result} />
      )}
      <Timeline episode={episode} player={BY_HAND} rival={rivalNamed(episode.setting, against.value)} />
    </div>
  );
}

interface PlayingProps {
  readonly day: string;
  readonly episode: EpisodeSoFar;
  readonly moves: readonly Move[];
  /** The rival to race against, or NOBODY. */
  readonly against: Signal<string>;
}

function Playing({ day, episode, moves, against }: PlayingProps) {
  const belief = useSignal(sliderBeliefAfter(moves));
  const act = (action: number): void => addMove(day, { action, belief: statedBelief(belief.value) });
  return (
    <>
      <div class="by-hand">
        <MeterStrip episode={episode} />
        <CurrentState episode={episode} />
        <ByHand episode={episode} act={act} />
        <BeliefSliders belief={belief} />
      </div>
      <KeysChoice>
        <ActionKeys /> act
      </KeysChoice>
      <Race
        setting={settingOf(day)}
        moves={episode.moves}
        // Without heuristic, the first rival, which states no belief.
        names={RIVALS.slice(1)}
        against={against.value}
        choose={(name) => {
          against.value = name;
        }}
      />
    </>
  );
}

interface FinishedProps {
  readonly day: string;
  readonly episode: EpisodeSoFar;
  readonly result: EpisodeResult;
}

const Finished = ({ day, episode, result }: FinishedProps) => (
  <>
    <Share
      day={day}
      seed={episode.setting.seed}
      grader={DAILY_GRADER}
      moves={episode.moves}
      result={result}
    />
    <Result episode={episode} result={result} finishedHere />
  </>
);
