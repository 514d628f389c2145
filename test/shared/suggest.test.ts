/** Suggestions for unknown names. */
import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../src/shared/suggest.js';

const KNOWN = ['sleep', 'deep_work', 'family_time'];

describe('didYouMean', () => {
  it.each([
    ['slep', ' Did you mean "sleep"?'],
    ['deepWork', ' Did you mean "deep_work"?'],
    ['some-family-time', ' Did you mean "family_time"?'],
    ['nonsense', ' Use one of these names.'],
    ['', ' Use one of these names.'],
  ])('returns the remedy for %j:%s', (name, remedy) => {
    expect(didYouMean(name, KNOWN)).toBe(remedy);
  });

  it('suggests no name if several are equally near, or if half of a short name differs', () => {
    expect(didYouMean('v4', ['v1', 'v2', 'v3'])).toBe(' Use one of these names.');
    expect(didYouMean('V2', ['v1', 'v2', 'v3'])).toBe(' Did you mean "v2"?');
    expect(didYouMean('xy', ['v1'])).toBe(' Use one of these names.');
    expect(didYouMean('sleep_work', ['sleep_a', 'sleep_b', 'sleep'])).toBe(' Did you mean "sleep"?');
    expect(didYouMean('read_and_write', ['read', 'write'])).toBe(' Use one of these names.');
  });

  it('suggests the new name for a former name', () => {
    const known = ['open-loop', 'open-loop+constant'];
    expect(didYouMean('blind-tape', known)).toBe(' Use "open-loop", its new name.');
    expect(didYouMean('blind-tape+constant', known)).toBe(' Use "open-loop+constant", its new name.');
    expect(didYouMean('honest-tape', known)).toBe(' Use one of these names.');
  });

  it('suggests no name for a text of more than 100 characters', () => {
    expect(didYouMean(`sleep${' x'.repeat(47)}`, KNOWN)).toBe(' Did you mean "sleep"?');
    expect(didYouMean(`sleep${' x'.repeat(48)}`, KNOWN, ' Remove it.')).toBe(' Remove it.');
  });
});
