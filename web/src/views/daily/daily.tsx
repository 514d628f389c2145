/** The daily episode: the same person for everybody, 28 actions, no undo. */
import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { startState, type ViewProps } from '../../address.js';
import { FailureMessage, Loading } from '../../parts/content.js';
import { BY_HAND, isOver, type Move, movesFrom, movesText, NOBODY } from '../../person/episode.js';
import { readStored, store } from '../../storage.js';
import { colourOf } from '../../words.js';
import {
  addressOf,
  type DAILY_FIELDS,
  DAILY_GRADER,
  PERSON_FIELDS,
  type PersonState,
  seedOfDay,
  today,
} from '../fields.js';
import { currentEpisode, failure, isOutdated, useEpisode } from '../person/episode-store.js';
import { Result } from '../person/result.js';
import { Announcements, ByHand, Folds, rivalOutline, Strip } from '../person/week.js';

const keyOf = (day: string): string => `daily.${day}`;

/** The moves of each day. They can be added but not removed: there is no undo. */
const movesByDay = signal<Readonly<Record<string, readonly Move[]>>>({});

/** Returns the moves of a day so far. */
const movesOf = (day: string): readonly Move[] =>
  movesByDay.value[day] ?? movesFrom(readStored(keyOf(day)) ?? '') ?? [];

/** Adds a move, unless the week is over. */
function addMove(day: string, move: Move): void {
  if (isOver(movesOf(day))) return;
  const moves = [...movesOf(day), move];
  movesByDay.value = { ...movesByDay.value, [day]: moves };
  store(keyOf(day), movesText(moves));
}

export function View({ state }: ViewProps<typeof DAILY_FIELDS>) {
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
  const [against, race] = useState(NOBODY);
  const wasRunning = useRef(false);
  const state: PersonState = {
    ...startState(PERSON_FIELDS),
    ...{ seed: seedOfDay(day), grader: DAILY_GRADER, moves },
  };
  const replay = useEpisode(state, against);
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
        // The planner's belief is shown at the end only: whoever copied it would read every stranger well.
        <ByHand
          episode={episode}
          moves={moves}
          other={rivalOutline(episode, against)}
          act={(move) => addMove(day, move)}
        />
      ) : (
        <Result
          episode={episode}
          result={result}
          finishedHere={wasRunning.current}
          player={BY_HAND}
          against={against}
          title={`Can you read a stranger? ${day}`}
          link={`${location.href.replace(/#.*/, '')}#daily?day=${day}`}
        >
          <a href={addressOf(state)}>Open this week in One person</a>
        </Result>
      )}
      <div class="actions">
        <Strip episode={episode} />
      </div>
      <div class="folds">
        <Folds episode={episode} player={BY_HAND} against={against} race={race} />
      </div>
    </div>
  );
}
