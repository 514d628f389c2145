/** Replays the episode that the page's address describes, in the worker, and keeps it for the view. */
import { signal } from '@preact/signals';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { type Failure, toFailure } from '../../engine/outcome.js';
import {
  type Advice,
  type EpisodeResult,
  type EpisodeSetting,
  isOver,
  type Move,
} from '../../person/episode-types.js';
import { BY_HAND } from '../../person/player-names.js';
import { type Transition, transitionsOf } from '../../person/transitions.js';
import type { PersonApi } from '../../person/worker.js';
import { keptUnder } from '../../students/kept-students.js';
import { WorkerClient } from '../../workers/worker-client.js';
import { addressOf, type PersonState } from './fields.js';

/** An episode up to the current step. */
export interface EpisodeSoFar {
  readonly setting: EpisodeSetting;
  readonly moves: readonly Move[];
  /** The first transition is the state after the reset, so there is one transition more than moves. */
  readonly transitions: readonly Transition[];
  /** As in EpisodeReplay. */
  readonly typical: Float32Array;
  /** Null until the last step is played. */
  readonly result: EpisodeResult | null;
}

const client = new WorkerClient<PersonApi>(
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
export const settingOf = ({ seed, person, grader }: PersonState): EpisodeSetting => ({
  seed,
  profile: person,
  grader,
});

/** Returns whether an episode has another setting than a state. If so, the state's episode has not been replayed yet. */
export const isOutdated = ({ setting }: EpisodeSoFar, state: PersonState): boolean =>
  JSON.stringify(setting) !== JSON.stringify(settingOf(state));

/** Replays the episode of a state, with the moves of its policy, and gets the next move of the policy. */
export async function follow(state: PersonState): Promise<void> {
  requests += 1;
  const request = requests;
  const isLatest = (): boolean => request === requests;
  failure.value = null;
  try {
    await play(state, isLatest);
  } catch (error) {
    if (isLatest()) failure.value = toFailure(error);
  }
}

/** Drops the results of the current request. Called when the view is left. */
export function stopFollowing(): void {
  requests += 1;
}

async function play(state: PersonState, isLatest: () => boolean): Promise<void> {
  const setting = settingOf(state);
  const moves = knownMoves(state);
  await show(setting, moves, isLatest);
  while (isLatest() && state.by !== BY_HAND && !isOver(moves)) {
    const next = await client.call((worker) => worker.advise(state.by, setting, moves, keptUnder(state.by)));
    if (!isLatest()) return;
    if (moves.length === stepsOf(state)) {
      lastAdvice.value = { address: addressOf(state), advice: next };
      return;
    }
    moves.push({ action: next.action, belief: next.belief });
    await show(setting, moves, isLatest);
  }
}

/** The longest known sequence of moves of the current setting and player, so that no move is computed twice. */
let played: { readonly key: string; readonly moves: readonly Move[] } = { key: '', moves: [] };

/** Returns a copy of the moves of a state: those by hand, and those of the policy that are known so far. Sets `played`. */
export function knownMoves(state: PersonState): Move[] {
  const { moves, by } = state;
  const key = JSON.stringify([settingOf(state), by, moves]);
  if (played.key !== key) played = { key, moves };
  return played.moves.slice(0, stepsOf(state));
}

/** Returns the number of steps of a state: the moves by hand, then `at` steps of its policy. A link may have too many. */
const stepsOf = ({ moves, at }: PersonState): number => Math.min(NUM_STEPS, moves.length + at);

async function show(setting: EpisodeSetting, moves: readonly Move[], isLatest: () => boolean): Promise<void> {
  const replayed = moves.slice();
  const { observations, typical, result } = await client.call((worker) => worker.replay(setting, replayed));
  if (!isLatest()) return;
  if (replayed.length > played.moves.length) played = { ...played, moves: replayed };
  if (JSON.stringify(currentEpisode.value?.setting) !== JSON.stringify(setting)) inferred.value = [];
  const transitions = transitionsOf({ observations, typical });
  currentEpisode.value = { setting, moves: replayed, transitions, typical, result };
  // Not awaited, so that the step is shown first.
  void infer(observations, setting.grader, isLatest);
}

async function infer(observations: Float32Array, grader: string, isLatest: () => boolean): Promise<void> {
  // If the worker stops, the next replay fails, and the view reports it.
  const beliefs = await client.call((worker) => worker.infer(observations, grader)).catch(() => null);
  if (beliefs !== null && isLatest()) inferred.value = beliefs;
}
