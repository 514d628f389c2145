/** The daily episode: the same person for everybody, 28 actions, no undo. */
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ViewProps } from '../../address.js';
import { FailureMessage, Loading } from '../../parts/content.js';
import {
  BY_HAND,
  isOver,
  type Move,
  movesFrom,
  movesText,
  NOBODY,
  sliderBeliefAfter,
  statedBelief,
} from '../../person/episode.js';
import { colourOf } from '../../words.js';
import { addressOf, type DAILY_FIELDS, DAILY_GRADER, type PersonState, seedOfDay, today } from '../fields.js';
import {
  currentEpisode,
  type EpisodeSoFar,
  failure,
  follow,
  isOutdated,
  rivalNames,
  settingOf,
  stopFollowing,
  useRivals,
} from '../person/episode-store.js';
import { Result } from '../person/result.js';
import { Announcements, Folds, Playing, rivalOutline, Strip } from '../person/week.js';
import '../../parts/marks.css';
import '../person/person.css';
import '../person/result.css';

const keyOf = (day: string): string => `rhythm-vec.daily.${day}`;

const movesByDay = signal<Readonly<Record<string, readonly Move[]>>>({});

/** Returns the moves of a day so far. */
export const movesOf = (day: string): readonly Move[] => movesByDay.value[day] ?? readStored(day);

/** Adds a move, unless the week is over. */
function addMove(day: string, move: Move): void {
  const before = movesOf(day);
  if (isOver(before)) return;
  const moves = [...before, move];
  movesByDay.value = { ...movesByDay.value, [day]: moves };
  try {
    localStorage.setItem(keyOf(day), movesText(moves));
  } catch {
    // Without storage the moves last until the page is closed.
  }
}

/** Reads the stored moves. A browser may refuse storage by throwing. */
function readStored(day: string): readonly Move[] {
  try {
    return movesFrom(localStorage.getItem(keyOf(day)) ?? '') ?? [];
  } catch {
    return [];
  }
}

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
