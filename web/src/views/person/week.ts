/** What can be done with the week that is shown: each changes the address, and the week follows. */
import type { Signal } from '@preact/signals';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { BY_HAND } from '../../person/names.js';
import type { Move } from '../../person/week.js';
import type { ViewProps } from '../view.js';
import { addressOf, type PERSON_FIELDS, type PersonState } from './fields.js';
import { movesKnown } from './follow.js';

/** Where "another person" is found: seeds of the distribution that agents are trained on. */
const SEEDS = 10_000;

export interface Week {
  readonly state: PersonState;
  /** Whether the policy goes on by itself. */
  readonly playing: boolean;
  /** Whether there is something to undo. */
  readonly begun: boolean;
  /** Another setting: the week begins anew. */
  readonly set: (patch: Partial<PersonState>) => void;
  readonly act: (move: Move) => void;
  /** The policy's next step. */
  readonly step: () => void;
  /** Has the policy go on by itself, or no longer. */
  readonly playOrPause: () => void;
  readonly undo: () => void;
  readonly restart: () => void;
  readonly anotherPerson: () => void;
  readonly playedBy: (name: string) => void;
}

/** @param playsAt the address at which the policy goes on by itself: who goes to another has paused it. */
export function weekOf(
  { state, change }: ViewProps<typeof PERSON_FIELDS>,
  playsAt: Signal<string | null>,
): Week {
  const { moves, by } = state;
  // A link may ask for more than a week has.
  const at = by === BY_HAND ? 0 : Math.min(state.at, NUM_STEPS - moves.length);
  const here = addressOf(state);
  const playing = playsAt.value === here;
  const afresh = (patch: Partial<PersonState>): void => change({ ...patch, moves: [], at: 0 });
  return {
    ...{ state, playing, begun: moves.length + at > 0 },
    set: afresh,
    act(move) {
      // The last one's page may not be there yet when the next key comes.
      if (moves.length < NUM_STEPS) change({ moves: [...moves, move], at: 0 });
    },
    step() {
      if (playing) playsAt.value = addressOf({ ...state, at: at + 1 });
      // One place in the browser's history for all that a policy plays by itself.
      change({ at: at + 1 }, playing ? 'replace' : 'push');
    },
    playOrPause() {
      playsAt.value = playing ? null : here;
    },
    undo() {
      if (at > 0) change({ at: at - 1 });
      else if (moves.length > 0) change({ moves: moves.slice(0, -1) });
    },
    restart: () => afresh({}),
    anotherPerson: () => afresh({ seed: Math.floor(Math.random() * SEEDS) }),
    playedBy: (name) => change({ by: name, moves: by === BY_HAND ? moves : movesKnown(state), at: 0 }),
  };
}
