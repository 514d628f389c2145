/** Redaction finds secrets as they stand and with invisible characters, and changes nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactor } from '../../../src/shared/http/redactor.js';
import { redacted } from '../../../src/training/hub/hub-errors.js';
import { anyText, DRAWS, drawsOf } from '../../support/random.js';

const KEY = 'se/cret+4f1c8a2e';
const redact = redactor([KEY]);
const separated = (between: string, text = KEY): string => [...text].join(between);

/**
 * Characters that one does not see: zero-width space and joiner, word joiner, byte order mark, soft hyphen, two variation
 * selectors, a tag, a combining accent and grapheme joiner, right-to-left override, Hangul filler.
 */
const INVISIBLE = [
  ...'\u200b\u200d\u2060\ufeff\u00ad\ufe0f\u{e0101}\u{e0041}\u0301\u034f\u202e\u3164',
  '\u200b\u00ad\u0301\ufe0f',
];

describe('a redactor finds a key', () => {
  it('with an invisible character between its characters', () => {
    for (const between of INVISIBLE)
      expect(redact(`<${separated(between)}>`), JSON.stringify(between)).toBe('<[redacted]>');
  });

  it.each([
    ['upper case', KEY.toUpperCase()],
    ['mixed case', KEY.replaceAll('e', 'E')],
    ["a URL's escapes", encodeURIComponent(KEY)],
    ["a URL's escapes in lower case", encodeURIComponent(KEY).toLowerCase()],
    ["JSON's escape of a slash", KEY.replace('/', '\\/')],
  ])('written in %s', (_, text) => {
    expect(redact(`<${text}>`)).toBe('<[redacted]>');
  });

  it('wherever it occurs, and keeps the text in between', () => {
    const hidden = separated('\u200b');
    expect(redact(`na\u00efve ${hidden}, ${KEY}\n${KEY.toUpperCase()}${hidden} 50%\u200b`)).toBe(
      'na\u00efve [redacted], [redacted]\n[redacted][redacted] 50%\u200b',
    );
  });

  it('as a whole, even if another key is its beginning', () => {
    expect(redactor(['abcd', 'abcdefgh'])('<abcdefgh>')).toBe('<[redacted]>');
  });

  it('in texts of the Hugging Face Hub', () => {
    const token = 'hf_aFakeTokenOfNobody';
    for (const between of ['', '\u200b', '\u00ad']) {
      expect(redacted(`token ${separated(between, token)}.`, token)).toBe('token hf_***.');
    }
  });

  it('of random characters, with invisible characters between them', () => {
    const secrets = fc.string({
      minLength: 8,
      maxLength: 40,
      unit: fc.constantFrom(...'abcXYZ0189-_+/=.~$^*'),
    });
    const noise = fc.constantFrom('', '', ...INVISIBLE);
    fc.assert(
      fc.property(secrets, fc.array(noise, { minLength: 40, maxLength: 40 }), (secret, separators) => {
        const text = Array.from(
          secret,
          (character, k) => character + (k < secret.length - 1 ? separators[k] : ''),
        );
        expect(redactor([secret])(`\u00bb${text.join('')}\u00ab`)).toBe('\u00bb[redacted]\u00ab');
      }),
      { ...DRAWS, numRuns: drawsOf(500) },
    );
  });
});

describe('a redactor keeps', () => {
  it('any text without a secret, even with invisible characters and escapes', () => {
    const special = fc.constantFrom(...INVISIBLE, '%41', '\\u0041', '\\n', '\\', '%');
    const texts = fc.array(fc.oneof(special, anyText()), { maxLength: 30 });
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('');
        expect(redact(text)).toBe(text);
      }),
      { ...DRAWS, numRuns: drawsOf(500) },
    );
  });

  it.each([
    ['a secret across two words', 'hide', 'which ideas'],
    ['the word EMPTY, which is no secret key', 'EMPTY', 'EMPTY'],
    ['a secret of fewer than four characters', 'abc', 'abcabc'],
  ])('%s', (_, secret, text) => {
    expect(redactor([secret])(text)).toBe(text);
  });
});
