/** The episode that the page's address describes, and its rivals: policies that play the same episode. Workers play both. */
import { type Signal, signal } from '@preact/signals';
import { proxy } from 'comlink';
import { useLayoutEffect } from 'preact/hooks';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import type { ViewProps } from '../../address.js';
import { type Transition, transitionsOf } from '../../person/descriptions.js';
import {
  type Advice,
  BY_HAND,
  type EpisodeReplay,
  type EpisodeSetting,
  isOver,
  keyOf,
  type Move,
  NOBODY,
  newSeed,
  type Rival,
} from '../../person/episode.js';
import type { PersonApi } from '../../person/worker.js';
import { keptNames, keptUnder } from '../../students/kept-students.js';
import { type Failure, toFailure, workerClient } from '../../workers/calls.js';
import { addressOf, type PERSON_FIELDS, type PersonState } from '../fields.js';

/** An episode up to the current step. */
export interface EpisodeSoFar extends Omit<EpisodeReplay, 'observations'> {
  readonly setting: EpisodeSetting;
  readonly moves: readonly Move[];
  /** The first transition is the state after the reset, so there is one transition more than moves. */
  readonly transitions: readonly Transition[];
}

const call = workerClient<PersonApi>(
  'The worker that plays the week',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'person' }),
);

/** The episode; null before the first replay. */
export const currentEpisode = signal<EpisodeSoFar | null>(null);
export const failure = signal<Failure | null>(null);
/** The belief that is inferred from each observation of the episode; shorter while the last ones are computed. */
export const inferred = signal<readonly (readonly number[])[]>([]);

/**
 * Returns what the planner would believe after what was seen before the last action, which is the last that it could state; null
 * before it is computed.
 */
export const lastGuess = (): readonly number[] | null => inferred.value[NUM_STEPS - 1] ?? null;

/** The last advice of a policy, and the address that it is for. */
const lastAdvice = signal<{ readonly address: string; readonly advice: Advice } | null>(null);

/**
 * Returns the next move of the policy at an address; null if the visitor plays by hand, after the end, and while the move is
 * being computed.
 */
export const adviceAt = (address: string): Advice | null =>
  lastAdvice.value?.address === address ? lastAdvice.value.advice : null;

/** The number of requests so far. The results of earlier requests are dropped. */
let requests = 0;

/** Returns the setting of a state's episode. */
function settingOf({ seed, person, grader }: PersonState): EpisodeSetting {
  return { seed, profile: person, grader };
}

/** Returns whether an episode has another setting than a state. If so, the state's episode has not been replayed yet. */
export const isOutdated = ({ setting }: EpisodeSoFar, state: PersonState): boolean =>
  JSON.stringify(setting) !== JSON.stringify(settingOf(state));

/** Replays the episode of a state, with the moves of its policy, and gets the next move of the policy. */
async function follow(state: PersonState): Promise<void> {
  requests += 1;
  const request = requests;
  const isLatest = (): boolean => request === requests;
  failure.value = null;
  const setting = settingOf(state);
  const moves = knownMoves(state);
  try {
    await show(setting, moves.slice(), isLatest);
    while (isLatest() && state.by !== BY_HAND && !isOver(moves)) {
      const next = await call((worker) => worker.advise(state.by, setting, moves, keptUnder(state.by)));
      if (!isLatest()) return;
      if (moves.length === stepsOf(state)) {
        lastAdvice.value = { address: addressOf(state), advice: next };
        return;
      }
      moves.push({ action: next.action, belief: next.belief });
      await show(setting, moves.slice(), isLatest);
    }
  } catch (error) {
    if (isLatest()) failure.value = toFailure(error);
  }
}

/** Replays moves and shows the episode, then infers the beliefs, unless there was another request meanwhile. */
async function show(setting: EpisodeSetting, moves: readonly Move[], isLatest: () => boolean): Promise<void> {
  const { observations, typical, result } = await call((worker) => worker.replay(setting, moves));
  if (!isLatest()) return;
  if (moves.length > played.moves.length) played = { ...played, moves };
  if (JSON.stringify(currentEpisode.value?.setting) !== JSON.stringify(setting)) inferred.value = [];
  const transitions = transitionsOf({ observations, typical });
  currentEpisode.value = { setting, moves, transitions, typical, result };
  // Not awaited, so that the step is shown first. If the worker stops, the next replay fails, and the view reports it.
  void call((worker) => worker.infer(observations, setting.grader)).then(
    (beliefs) => {
      if (isLatest()) inferred.value = beliefs;
    },
    () => {},
  );
}

/** The longest known sequence of moves of the current setting and player, so that no move is computed twice. */
let played: { readonly key: string; readonly moves: readonly Move[] } = { key: '', moves: [] };

/** Returns a copy of the moves of a state: those by hand, and those of the policy that are known so far. Sets `played`. */
function knownMoves(state: PersonState): Move[] {
  const { moves, by } = state;
  const key = JSON.stringify([settingOf(state), by, moves]);
  if (played.key !== key) played = { key, moves };
  return played.moves.slice(0, stepsOf(state));
}

/** Returns the number of steps of a state: the moves by hand, then `at` steps of its policy. A link may have too many. */
const stepsOf = ({ moves, by, at }: PersonState): number =>
  by === BY_HAND ? moves.length : Math.min(NUM_STEPS, moves.length + at);

/**
 * Returns the names of the policies beside which a result is shown, the fastest first, of the students that the visitor kept, and of
 * the policy that the visitor races. The packaged student is the one that was trained for the grader.
 */
export function rivalNames(grader: string, against: string): string[] {
  const packaged = ['heuristic', grader === 'v2' ? 'student-v2' : 'student-v3', 'planner'];
  return [...new Set([...packaged, ...keptNames(), ...(against === NOBODY ? [] : [against])])];
}

/** An episode that a rival plays: the steps that it has played, and its result after the last. */
export interface RivalState {
  readonly steps: number;
  readonly rival: Rival | null;
  /** Whether it could not play: the worker stopped, or a student could not be loaded. */
  readonly failed: boolean;
}

const callRivals = workerClient<PersonApi>(
  'The worker of the other players',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'rivals' }),
);

/** The rivals of the episode of `played`, by name. */
const states = signal<Readonly<Record<string, RivalState>>>({});
/** The setting of the episode as text, and a key for each rival that plays it or has played it. */
let race: { readonly setting: string; readonly keys: Set<string> } = { setting: '', keys: new Set() };

/** Returns the states of the rivals in the episode of a setting, by name. */
export const rivalsIn = (setting: EpisodeSetting): Readonly<Record<string, RivalState>> =>
  race.setting === JSON.stringify(setting) ? states.value : {};

/** Lets each rival play an episode once. A student that the visitor kept plays again if its file has changed. */
async function playRivals(setting: EpisodeSetting, names: readonly string[]): Promise<void> {
  const text = JSON.stringify(setting);
  if (race.setting !== text) {
    race = { setting: text, keys: new Set() };
    states.value = {};
  }
  const { keys: begun } = race;
  for (const name of names) {
    const students = keptUnder(name);
    const key = [name, ...students.map(keyOf)].join(' ');
    if (begun.has(key)) continue;
    begun.add(key);
    const report = (state: Partial<RivalState>): void => {
      if (race.setting !== text) return;
      states.value = { ...states.value, [name]: { steps: 0, rival: null, failed: false, ...state } };
    };
    report({});
    const progress = proxy((steps: number) => {
      // A report may come after the result.
      if (states.value[name]?.rival === null) report({ steps });
    });
    await callRivals((worker) => worker.rival(name, setting, students, progress)).then(
      (rival) => report({ rival }),
      () => report({ failed: true }),
    );
  }
}

/**
 * Replays the episode of a state whenever its address changes. Lets the rivals play it in the background: the raced one at once, and
 * those of the result from the first step on, so that the page's start is not slowed down.
 * @returns the function that replays the episode again.
 */
export function useEpisode(state: PersonState, against: string): () => void {
  const replay = (): void => void follow(state);
  useLayoutEffect(() => {
    replay();
    // Drops the results of the current request when the view is left.
    return () => {
      requests += 1;
    };
  }, [addressOf(state)]);
  const hasBegun = state.moves.length + state.at > 0;
  const names = rivalNames(state.grader, against).filter((name) => hasBegun || name === against);
  const setting = settingOf(state);
  useLayoutEffect(() => void playRivals(setting, names), [JSON.stringify([setting, names])]);
  return replay;
}

export type EpisodeActions = ReturnType<typeof episodeActions>;

/**
 * Returns what the user can do in a state of the view. Each action but `playOrPause` changes the address, from which the episode
 * is replayed.
 * @param playingAt the address at which continuous play goes on. Play pauses when the user goes to another address.
 */
export function episodeActions(
  { state, change }: ViewProps<typeof PERSON_FIELDS>,
  playingAt: Signal<string | null>,
) {
  const { moves, by } = state;
  // The number of steps that the policy plays after `moves`. A link may have too many.
  const at = stepsOf(state) - moves.length;
  const here = addressOf(state);
  const playing = playingAt.value === here;
  /** Changes settings and restarts the episode. */
  const set = (patch: Partial<PersonState>): void => change({ ...patch, moves: [], at: 0 });
  return {
    state,
    /** Whether the policy plays continuously. */
    playing,
    /** Whether there is a move to undo. */
    canUndo: moves.length + at > 0,
    set,
    act(move: Move): void {
      // A key may be pressed before the page shows the last step.
      if (moves.length < NUM_STEPS) change({ moves: [...moves, move], at: 0 });
    },
    /** Plays the policy's next move. */
    step(): void {
      if (playing) playingAt.value = addressOf({ ...state, at: at + 1 });
      // Continuous play adds no entries to the browser's history.
      change({ at: at + 1 }, playing ? 'replace' : 'push');
    },
    /** Starts or stops continuous play. */
    playOrPause(): void {
      playingAt.value = playing ? null : here;
    },
    undo(): void {
      if (at > 0) change({ at: at - 1 });
      else if (moves.length > 0) change({ moves: moves.slice(0, -1) });
    },
    restart: (): void => set({}),
    newSeed: (): void => set({ seed: newSeed() }),
    /** Chooses the policy to race against. */
    setRival: (against: string): void => change({ against }),
    /** Continues the episode with another player. */
    setPlayer: (name: string): void =>
      change({ by: name, moves: by === BY_HAND ? moves : knownMoves(state), at: 0 }),
  };
}
