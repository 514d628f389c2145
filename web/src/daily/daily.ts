/** The daily episode: its seed, and its result as text. */
import { ACTION_STYLES } from '../../../src/figures/action-sequences.js';
import { NUM_SLOTS, NUM_STEPS } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';

/** The grader of daily episodes. */
export const DAILY_GRADER = 'v3';

const PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the current day in UTC, the same for everybody: "2026-11-24". */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Returns whether a text is a day whose episode can be played: 2000-01-01 to today. */
export function isPlayableDay(text: string): boolean {
  if (!PATTERN.test(text) || text < '2000-01-01' || text > today()) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Returns the seed of a day: its digits, such as 20261124. */
export const seedOfDay = (day: string): number => Number(day.replaceAll('-', ''));

/** A player of the day's episode, with its result. */
export interface Scored {
  readonly name: string;
  readonly finalScore: number;
  /** Null if no belief was stated. */
  readonly beliefMae: number | null;
}

/** One square for each category of actions, in the order of RHYTHM.categories. */
export const SQUARES = ['🟦', '🟩', '🟧', '🟨'];

/** Returns a square for each action: a line for each slot, a column for each day. @param actions codes, [28]. */
export function squaresOf(actions: readonly number[]): string {
  const lines = Array.from({ length: NUM_SLOTS }, (_, slot) =>
    Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => squareOf(actions[day * NUM_SLOTS + slot])).join(
      '',
    ),
  );
  return lines.join('\n');
}

const squareOf = (action: number): string =>
  SQUARES[RHYTHM.categories.indexOf(ACTION_STYLES[action].category as never)];

const ORDINALS = ['1st', '2nd', '3rd', '4th'];

/** Returns the place of the user: "2nd of 4, behind planner". @param rivals the players that have finished. */
export function placeOf(mine: Scored, rivals: readonly Scored[]): string {
  const ahead = rivals.filter(({ finalScore }) => finalScore > mine.finalScore).map(({ name }) => name);
  const place = `${ORDINALS[ahead.length] ?? `${ahead.length + 1}th`} of ${rivals.length + 1}`;
  return ahead.length === 0 ? place : `${place}, behind ${ahead.join(' and ')}`;
}

interface SharedResult {
  readonly day: string;
  readonly actions: readonly number[];
  readonly mine: Scored;
  readonly rivals: readonly Scored[];
  /** The address of the day's episode. */
  readonly link: string;
}

/** Returns the result as text to copy. */
export function resultText({ day, actions, mine, rivals, link }: SharedResult): string {
  const belief = mine.beliefMae === null ? 'no belief stated' : `belief error ${mine.beliefMae.toFixed(3)}`;
  const place = rivals.length === 0 ? [] : [`${placeOf(mine, rivals)} (${rivals.map(scoreText).join(', ')})`];
  return [
    `Can you read a stranger? ${day}`,
    squaresOf(actions),
    `Score ${mine.finalScore.toFixed(3)}, ${belief}`,
    ...place,
    link,
  ].join('\n');
}

const scoreText = ({ name, finalScore }: Scored): string => `${name} ${finalScore.toFixed(3)}`;
