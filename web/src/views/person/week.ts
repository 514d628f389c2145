/** What can be done with the week that is shown: each changes the address, and the week follows. */
import type { Signal } from '@preact/signals';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { BY_HAND } from '../../person/names.js';
import type { Move } from '../../person/week.js';
import type { ViewProps } from '../view.js';
import type { PERSON_FIELDS, PersonState } from './fields.js';
import type { Shown } from './follow.js';

/** Where "another person" is found: seeds of the distribution that agents are trained on. */
const SEEDS = 10_000;

export interface Week {
  readonly state: PersonState;
  /** Null before it is there. */
  readonly shown: Shown | null;
  /** Whether the policy goes on by itself. */
  readonly playing: Signal<boolean>;
  /** Whether there is something to undo. */
  readonly begun: boolean;
  /** Another setting: the week begins anew. */
  readonly set: (patch: Partial<PersonState>) => void;
  readonly act: (move: Move) => void;
  /** The policy's next step. */
  readonly step: () => void;
  readonly undo: () => void;
  readonly restart: () => void;
  readonly anotherPerson: () => void;
  readonly playedBy: (name: string) => void;
}

export function weekOf(
  { state, change }: ViewProps<typeof PERSON_FIELDS>,
  shown: Shown | null,
  playing: Signal<boolean>,
): Week {
  const { moves, by } = state;
  // A link may ask for more than a week has.
  const at = by === BY_HAND ? 0 : Math.min(state.at, NUM_STEPS - moves.length);
  const afresh = (patch: Partial<PersonState>): void => {
    playing.value = false;
    change({ ...patch, moves: [], at: 0 });
  };
  return {
    ...{ state, shown, playing, begun: moves.length + at > 0 },
    set: afresh,
    act: (move) => change({ moves: [...moves, move], at: 0 }),
    // One place in the browser's history for all that a policy plays by itself.
    step: () => change({ at: at + 1 }, playing.value ? 'replace' : 'push'),
    undo() {
      playing.value = false;
      if (at > 0) change({ at: at - 1 });
      else if (moves.length > 0) change({ moves: moves.slice(0, -1) });
    },
    restart: () => afresh({}),
    anotherPerson: () => afresh({ seed: Math.floor(Math.random() * SEEDS) }),
    playedBy(name) {
      playing.value = false;
      const soFar = by === BY_HAND ? moves : (shown?.moves ?? moves);
      change({ by: name, moves: soFar, at: 0 });
    },
  };
}
