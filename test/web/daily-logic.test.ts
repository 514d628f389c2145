/** Tests the daily episode of the page: days, seeds, places and the result to copy. */
import { describe, expect, it } from 'vitest';
import {
  isPlayableDay,
  placeOf,
  resultText,
  seedOfDay,
  squaresOf,
  today,
} from '../../web/src/daily/daily.js';

const scored = (name: string, finalScore: number) => ({ name, finalScore, beliefMae: 0.1 });

describe('the daily episode', () => {
  it.each(['2026-11-24', '2024-02-29', '2000-01-01', today()])('can be played on %s', (day) => {
    expect(isPlayableDay(day)).toBe(true);
  });

  it.each(['2026-02-30', '2023-02-29', '1999-12-31', '9999-01-01', '2026-1-1', '', '2025-13-01', 'x'])(
    'cannot be played on %j',
    (day) => {
      expect(isPlayableDay(day)).toBe(false);
    },
  );

  it('has the digits of its day as its seed', () => {
    expect(seedOfDay('2026-11-24')).toBe(20_261_124);
  });
});

describe('the result', () => {
  it('has a square for each action, by slot and day', () => {
    const actions = Array.from({ length: 28 }, (_, step) => [0, 3, 6, 8][step % 4]);
    expect(squaresOf(actions).split('\n')).toEqual(['🟦', '🟩', '🟧', '🟨'].map((each) => each.repeat(7)));
  });

  it('names the place of the user, and the rivals with a higher score', () => {
    const rivals = [scored('heuristic', 0.3), scored('student', 0.6), scored('planner', 0.7)];
    expect(placeOf(scored('you', 0.5), rivals)).toBe('3rd of 4, behind student and planner');
    expect(placeOf(scored('you', 0.9), rivals)).toBe('1st of 4');
    expect(placeOf(scored('you', 0.1), rivals.slice(0, 1))).toBe('2nd of 2, behind heuristic');
  });

  it('is a text with the day, the squares, the scores and a link', () => {
    const text = resultText({
      day: '2026-11-24',
      actions: Array<number>(28).fill(3),
      mine: scored('you', 0.5),
      rivals: [scored('heuristic', 0.3)],
      link: 'https://example.org/#daily?day=2026-11-24',
    });
    expect(text.split('\n')).toEqual([
      'Can you read a stranger? 2026-11-24',
      ...Array<string>(4).fill('🟩'.repeat(7)),
      'Score 0.500, belief error 0.100',
      '1st of 2 (heuristic 0.300)',
      'https://example.org/#daily?day=2026-11-24',
    ]);
  });

  it('says that no belief was stated, and gives no belief error then', () => {
    const mine = { ...scored('you', 0.5), beliefMae: null };
    const text = resultText({
      day: '2026-11-24',
      actions: Array<number>(28).fill(3),
      mine,
      rivals: [],
      link: '',
    });
    expect(text).toContain('\nScore 0.500, no belief stated\n');
  });
});
