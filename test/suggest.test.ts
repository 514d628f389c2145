/** Remedies for names that are none. */
import { describe, expect, it } from 'vitest';
import { didYouMean } from '../src/suggest.js';

const KNOWN = ['sleep', 'deep_work', 'family_time'];

describe('a guess', () => {
  it.each([
    ['slep', ' Did you mean "sleep"?'],
    ['deepWork', ' Did you mean "deep_work"?'],
    ['some-family-time', ' Did you mean "family_time"?'],
    ['nonsense', ' Use one of these.'],
    ['', ' Use one of these.'],
  ])('%j gets%s', (guess, remedy) => {
    expect(didYouMean(guess, KNOWN)).toBe(remedy);
  });

  it('is no name if it is as long as a file, and is not compared with any', () => {
    expect(didYouMean(`sleep${' x'.repeat(47)}`, KNOWN)).toBe(' Did you mean "sleep"?');
    expect(didYouMean(`sleep${' x'.repeat(48)}`, KNOWN, ' Remove it.')).toBe(' Remove it.');
  });
});
