/** The daily episode: the same person for everybody, 28 actions, no undo. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { colourOf } from '../../charts/policy-colours.js';
import { DAILY_GRADER, seedOfDay, today } from '../../daily/daily.js';
import { BY_HAND, NOBODY } from '../../person/player-names.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import { Announcements } from '../person/announcements.js';
import {
  currentEpisode,
  type EpisodeSoFar,
  failure,
  follow,
  isOutdated,
  settingOf,
  stopFollowing,
} from '../person/episode-store.js';
import { addressOf, type PersonState } from '../person/fields.js';
import { Result } from '../person/result.js';
import { rivalNames, useRivals } from '../person/rivals.js';
import { sliderBeliefAfter, statedBelief } from '../person/slider-belief.js';
import { Folds, Playing, rivalOutline, Strip } from '../person/week.js';
import type { ViewProps } from '../view.js';
import { addMove, movesOf } from './daily-moves.js';
import type { DAILY_FIELDS } from './fields.js';
import '../../parts/marks.css';
import '../person/person.css';
import '../person/result.css';

export function DailyView({ state }: ViewProps<typeof DAILY_FIELDS>) {
  const day = state.day || today();
  return (
    <div class="person daily" key={day} style={{ '--player': colourOf(BY_HAND) }}>
      <h1>{day}: one stranger, the same for everybody. You have one week, and no undo.</h1>
      <Day day={day} />
    </div>
  );
}

function Day({ day }: { readonly day: string }) {
  const moves = movesOf(day);
  const against = useSignal(NOBODY);
  const wasRunning = useRef(false);
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
  useRivals(settingOf(state), against.value, moves.length);
  if (failure.value !== null) return <FailureMessage failure={failure.value} retry={replay} />;
  const episode = currentEpisode.value;
  // At first the store may have the episode of another view or of another day.
  if (episode === null || isOutdated(episode, state)) return <Loading>Starting the week …</Loading>;
  const { result } = episode;
  wasRunning.current ||= result === null;
  return (
    <div class="week">
      <Announcements episode={episode} playing={false} />
      {result === null ? (
        <ByHand day={day} episode={episode} against={against.value} />
      ) : (
        <Result
          episode={episode}
          result={result}
          finishedHere={wasRunning.current}
          player={BY_HAND}
          rivals={rivalNames(DAILY_GRADER, against.value)}
          title={`Can you read a stranger? ${day}`}
          link={`${location.href.replace(/#.*/, '')}#daily?day=${day}`}
        >
          <a href={addressOf(state)}>Open this week in One person</a>
        </Result>
      )}
      <div class="bar">
        <Strip episode={episode} />
      </div>
      <div class="folds">
        <Folds
          episode={episode}
          player={BY_HAND}
          against={against.value}
          race={(name) => {
            against.value = name;
          }}
        />
      </div>
    </div>
  );
}

interface ByHandProps {
  readonly day: string;
  readonly episode: EpisodeSoFar;
  readonly against: string;
}

/** The planner's belief is shown at the end only: whoever copied it would read every stranger well. */
function ByHand({ day, episode, against }: ByHandProps) {
  const belief = useSignal(sliderBeliefAfter(movesOf(day)));
  const act = (action: number): void => addMove(day, { action, belief: statedBelief(belief.value) });
  return <Playing episode={episode} belief={belief} other={rivalOutline(episode, against)} act={act} />;
}
