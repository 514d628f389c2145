/** A result in words and squares. */
import { COMPONENT, NUM_BELIEFS, NUM_SLOTS, NUM_STEPS } from '../../../src/world/fields.js';
import type { EpisodeResult, Move, Scored } from './episode.js';

/** One of the two scores of a result. */
export interface Score {
  /** In [0, 1]. */
  readonly share: number;
  /** "62 of 100", or words for a score that rounds to 0 or less. */
  readonly words: string;
}

/** Returns how well the person lived: the meters, as this person values them. */
export const livedScore = ({ lived }: Scored): Score => scoreOf(lived, 'almost nothing');

/** Returns how well the person was read: the component `belief_skill`. */
export const readScore = ({ given, components }: Scored): Score =>
  given
    ? scoreOf(components[COMPONENT.beliefSkill], 'no better than the middle guess')
    : { share: 0, words: 'nothing said' };

function scoreOf(value: number, zero: string): Score {
  const hundredths = Math.round(100 * value);
  return { share: Math.max(0, value), words: hundredths > 0 ? `${hundredths} of 100` : zero };
}

/** Returns the mean absolute error of a belief. */
export const errorOf = (belief: readonly number[], target: ArrayLike<number>): number =>
  belief.reduce((sum, each, k) => sum + Math.abs(each - target[k]), 0) / NUM_BELIEFS;

/**
 * Returns the headline: "I read this stranger to within 0.08; the planner, from the same week, to within 0.03."
 * @param guess the belief that is inferred from what the player saw before the last action; null before it is known.
 */
export function headline(result: EpisodeResult, guess: readonly number[] | null): string {
  const { given, beliefMae, target } = result;
  const own = given
    ? `I read this stranger to within ${distance(beliefMae)}`
    : 'I spent a week with this stranger and made no guess';
  if (guess === null) return `${own}.`;
  return `${own}; the planner, from the same week, to within ${distance(errorOf(guess, target))}.`;
}

/** A distance is never shown as 0.00. */
const distance = (error: number): string => Math.max(0.01, error).toFixed(2);

/** How good something was. */
export type Grade = 'good' | 'fair' | 'poor' | 'none';

const SQUARES: Readonly<Record<Grade, string>> = { good: '🟦', fair: '🟨', poor: '🟧', none: '⬜' };

/** One day of a result. */
export interface DayGrades {
  /** How close the belief was at the end of the day. */
  readonly belief: Grade;
  /** How good each slot was for the person, without luck. */
  readonly slots: readonly Grade[];
}

/** The largest mean error of a good and of a fair belief. The belief 0.5 has 0.2 on average over people. */
const [GOOD_ERROR, FAIR_ERROR] = [0.1, 0.2];
/**
 * The smallest reward, without luck, of a good and of a fair slot. Chosen by hand, so that each of the three is frequent in
 * weeks of the daily rules of thumb.
 */
const [GOOD_REWARD, FAIR_REWARD] = [0.25, -0.25];

/** Grades each day. */
export function daysOf(moves: readonly Move[], { target, rewards }: EpisodeResult): DayGrades[] {
  let belief: Move['belief'] = null;
  const errors = moves.map((move) => {
    belief = move.belief ?? belief;
    return belief === null ? null : errorOf(belief, target);
  });
  return Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => {
    const error = errors[(day + 1) * NUM_SLOTS - 1];
    return {
      belief: error === null ? 'none' : error <= GOOD_ERROR ? 'good' : error <= FAIR_ERROR ? 'fair' : 'poor',
      slots: Array.from(rewards.slice(day * NUM_SLOTS, (day + 1) * NUM_SLOTS), (reward) =>
        reward >= GOOD_REWARD ? 'good' : reward >= FAIR_REWARD ? 'fair' : 'poor',
      ),
    };
  });
}

interface SharedResult {
  /** What was played: "Can you read a stranger? 2026-11-24". */
  readonly title: string;
  readonly result: EpisodeResult;
  /** As for `headline`. */
  readonly guess: readonly number[] | null;
  readonly days: readonly DayGrades[];
  /** The address at which others can play the same person. */
  readonly link: string;
}

/** Returns the result as text to share: a line for each day, with the square of the belief and those of the slots. */
export const resultText = ({ title, result, guess, days, link }: SharedResult): string =>
  [
    title,
    headline(result, guess),
    `Lived: ${livedScore(result).words}. Read: ${readScore(result).words}. ${gradeText(result.finalScore)}`,
    ...days.map(({ belief, slots }) => `${SQUARES[belief]} ${slots.map((slot) => SQUARES[slot]).join('')}`),
    link,
  ].join('\n');

/** Returns the final score, which `rhythm-vec replay` has too. */
export const gradeText = (finalScore: number): string =>
  finalScore > 0 ? `Score ${finalScore.toFixed(3)}.` : 'Nothing scored.';
