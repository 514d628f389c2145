/** Suggestions for unknown names. */
import { expect, it } from 'vitest';
import { didYouMean } from '../../src/shared/names.js';

const KNOWN = ['sleep', 'deep_work', 'family_time'];
const VERSIONS = ['v1', 'v2', 'v3'];
const NONE = ' Use one of these names.';

it.each<[name: string, known: string[], remedy: string]>([
  ['slep', KNOWN, ' Did you mean "sleep"?'],
  ['deepWork', KNOWN, ' Did you mean "deep_work"?'],
  ['some-family-time', KNOWN, ' Did you mean "family_time"?'],
  ['nonsense', KNOWN, NONE],
  ['', KNOWN, NONE],
  // Several are equally near, or half of a short name differs.
  ['v4', VERSIONS, NONE],
  ['V2', VERSIONS, ' Did you mean "v2"?'],
  ['xy', ['v1'], NONE],
  ['sleep_work', ['sleep_a', 'sleep_b', 'sleep'], ' Did you mean "sleep"?'],
  ['read_and_write', ['read', 'write'], NONE],
  // A text of more than 100 characters.
  [`sleep${' x'.repeat(47)}`, KNOWN, ' Did you mean "sleep"?'],
  [`sleep${' x'.repeat(48)}`, KNOWN, NONE],
])('didYouMean suggests the nearest name for %j of %j:%s', (name, known, remedy) => {
  expect(didYouMean(name, known)).toBe(remedy);
});

it('didYouMean gives another remedy if there is no near name', () => {
  expect(didYouMean('nonsense', KNOWN, ' Remove it.')).toBe(' Remove it.');
});
