/** Lives the week that the address tells of, and shows it. */
import { signal } from '@preact/signals';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { type Failure, toFailure } from '../../engine/outcome.js';
import { BY_HAND } from '../../person/names.js';
import { type Moment, momentsOf } from '../../person/reading.js';
import { type Advice, type Ending, isOver, type Move, type WeekSetting } from '../../person/week.js';
import type { PersonApi } from '../../person/worker.js';
import { WorkerLine } from '../../workers/line.js';
import { addressOf, type PersonState } from './fields.js';

/** A week up to now. */
export interface Shown {
  readonly setting: WeekSetting;
  readonly moves: readonly Move[];
  /** One more than moves. */
  readonly moments: readonly Moment[];
  readonly ending: Ending | null;
}

const line = new WorkerLine<PersonApi>(
  'The worker that lives the week',
  () => new Worker(new URL('../../person/worker.ts', import.meta.url), { type: 'module', name: 'person' }),
);

/** The week; null before the first is there. */
export const shown = signal<Shown | null>(null);
export const failure = signal<Failure | null>(null);

/** What a policy said last, and at which address it was asked. */
const said = signal<{ readonly address: string; readonly advice: Advice } | null>(null);

/** What the policy will do next; null by hand, at the end, and while it thinks. */
export const adviceAt = (address: string): Advice | null =>
  said.value?.address === address ? said.value.advice : null;

/** Whoever asks last is answered; answers to others are dropped. */
let turn = 0;

const settingOf = ({ seed, person, grader }: PersonState): WeekSetting => ({
  seed,
  profile: person,
  grader,
});

/** Whether a week is not that of the state, whose own is not there yet. */
export const isAnothers = ({ setting }: Shown, state: PersonState): boolean =>
  JSON.stringify(setting) !== JSON.stringify(settingOf(state));

/** Shows the week of a state, step by step where a policy has to be asked, and asks the policy for what is next. */
export async function follow(state: PersonState): Promise<void> {
  turn += 1;
  const mine = turn;
  const isMine = (): boolean => mine === turn;
  failure.value = null;
  try {
    await play(state, isMine);
  } catch (error) {
    if (isMine()) failure.value = toFailure(error);
  }
}

/** Asks for nothing more: nobody looks. */
export function unfollow(): void {
  turn += 1;
}

async function play(state: PersonState, isMine: () => boolean): Promise<void> {
  const setting = settingOf(state);
  const moves = movesKnown(state);
  await show(setting, moves, isMine);
  while (isMine() && state.by !== BY_HAND && !isOver(moves)) {
    const next = await line.ask((worker) => worker.advise(state.by, setting, moves));
    if (!isMine()) return;
    if (moves.length === stepsOf(state)) {
      said.value = { address: addressOf(state), advice: next };
      return;
    }
    moves.push({ action: next.action, belief: next.belief });
    await show(setting, moves, isMine);
  }
}

/** What was played by whom, so that a policy is not asked again for what it said. */
let known: { readonly key: string; readonly moves: readonly Move[] } = { key: '', moves: [] };

/** The moves up to where a state says, as far as it is known yet what its policy does. A copy. */
export function movesKnown(state: PersonState): Move[] {
  const { moves, by } = state;
  const key = JSON.stringify([settingOf(state), by, moves]);
  if (known.key !== key) known = { key, moves };
  return known.moves.slice(0, stepsOf(state));
}

/** A link may ask for more than a week has. */
const stepsOf = ({ moves, at }: PersonState): number => Math.min(NUM_STEPS, moves.length + at);

async function show(setting: WeekSetting, moves: readonly Move[], isMine: () => boolean): Promise<void> {
  const lived = moves.slice();
  const { observations, ending } = await line.ask((worker) => worker.live(setting, lived));
  if (!isMine()) return;
  if (lived.length > known.moves.length) known = { ...known, moves: lived };
  shown.value = { setting, moves: lived, moments: momentsOf(observations), ending };
}
