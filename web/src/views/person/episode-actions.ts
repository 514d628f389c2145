/**
 * What the user can do with the episode. Each action but `playOrPause` changes the address, from which the episode is replayed.
 */
import type { Signal } from '@preact/signals';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import type { Move } from '../../person/episode-types.js';
import { BY_HAND } from '../../person/player-names.js';
import type { ViewProps } from '../view.js';
import { knownMoves } from './episode-store.js';
import { addressOf, type PERSON_FIELDS, type PersonState } from './fields.js';

/**
 * The button "Another person" draws a seed below this number. From this number on, seeds are out of distribution
 * (docs/world.md).
 */
const SEEDS = 10_000;

export interface EpisodeActions {
  readonly state: PersonState;
  /** Whether the policy plays continuously. */
  readonly playing: boolean;
  /** Whether there is a move to undo. */
  readonly canUndo: boolean;
  /** Changes settings and restarts the episode. */
  readonly set: (patch: Partial<PersonState>) => void;
  readonly act: (move: Move) => void;
  /** Plays the policy's next move. */
  readonly step: () => void;
  /** Starts or stops continuous play. */
  readonly playOrPause: () => void;
  readonly undo: () => void;
  readonly restart: () => void;
  readonly newSeed: () => void;
  /** Continues the episode with another player. */
  readonly setPlayer: (name: string) => void;
  /** Chooses the policy to race against. */
  readonly setRival: (name: string) => void;
}

/**
 * Returns the actions for a state of the view.
 * @param playingAt the address at which continuous play goes on. Play pauses when the user goes to another address.
 */
export function episodeActions(
  { state, change }: ViewProps<typeof PERSON_FIELDS>,
  playingAt: Signal<string | null>,
): EpisodeActions {
  const { moves, by } = state;
  // The number of steps that the policy plays after `moves`. A link may have too many.
  const at = by === BY_HAND ? 0 : Math.min(state.at, NUM_STEPS - moves.length);
  const here = addressOf(state);
  const playing = playingAt.value === here;
  const restartWith = (patch: Partial<PersonState>): void => change({ ...patch, moves: [], at: 0 });
  return {
    state,
    playing,
    canUndo: moves.length + at > 0,
    set: restartWith,
    act(move) {
      // A key may be pressed before the page shows the last step.
      if (moves.length < NUM_STEPS) change({ moves: [...moves, move], at: 0 });
    },
    step() {
      if (playing) playingAt.value = addressOf({ ...state, at: at + 1 });
      // Continuous play adds no entries to the browser's history.
      change({ at: at + 1 }, playing ? 'replace' : 'push');
    },
    playOrPause() {
      playingAt.value = playing ? null : here;
    },
    undo() {
      if (at > 0) change({ at: at - 1 });
      else if (moves.length > 0) change({ moves: moves.slice(0, -1) });
    },
    restart: () => restartWith({}),
    newSeed: () => restartWith({ seed: Math.floor(Math.random() * SEEDS) }),
    setRival: (against) => change({ against }),
    setPlayer: (name) => change({ by: name, moves: by === BY_HAND ? moves : knownMoves(state), at: 0 }),
  };
}
