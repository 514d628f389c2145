/** Redaction finds secrets in many spellings, and changes nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactor } from '../../../src/shared/http/redactor.js';
import { redacted } from '../../../src/training/hub/redact.js';
import { anyText, DRAWS, drawsOf } from '../../support/random.js';

const KEY = 'se/cret+4f1c8a2e';
const redact = redactor([KEY]);
const separated = (between: string, text = KEY): string => [...text].join(between);
/** Replaces each character of a text. @param write returns the replacement of a UTF-16 unit. */
const rewritten = (write: (unit: number) => string, text = KEY): string =>
  Array.from(text, (character) => write(character.charCodeAt(0))).join('');
const hex = (unit: number, length: number): string => unit.toString(16).padStart(length, '0');

/**
 * Characters that one does not see: zero-width space and joiner, word joiner, byte order mark, soft hyphen, two variation
 * selectors, a tag, a combining accent and grapheme joiner, right-to-left override, Hangul filler, NUL, escape, a lone surrogate
 * and a private-use character.
 */
const INVISIBLE = [
  ...'\u200b\u200d\u2060\ufeff\u00ad\ufe0f\u{e0101}\u{e0041}\u0301\u034f\u202e\u3164\0\u001b\ud800\ue000',
  '\u200b\u00ad\u0301\ufe0f',
];
/** Spaces, tabs, line ends, and a Braille blank. */
const BLANK = [...' \t\u00a0\u3000\u2028\u2800', '\r\n', ' \u200b '];

/** The distances from a character of ASCII to its full-width form, and from a small letter to its mathematical bold form. */
const [FULL_WIDTH, BOLD] = [0xfee0, 0x1d3b9];

describe('a redactor finds a key', () => {
  it('with an invisible or blank character between its characters', () => {
    for (const between of [...INVISIBLE, ...BLANK])
      expect(redact(`<${separated(between)}>`), JSON.stringify(between)).toBe('<[redacted]>');
  });

  it.each([
    ['full-width letters', rewritten((unit) => String.fromCharCode(unit + FULL_WIDTH))],
    ['mathematical letters', KEY.replaceAll(/[a-z]/g, (a) => String.fromCodePoint(a.charCodeAt(0) + BOLD))],
    ['accented letters', KEY.replaceAll('e', '\u00e9').replace('c', '\u00e7')],
    ["JSON's escapes of all its characters", rewritten((unit) => `\\u${hex(unit, 4)}`)],
    ["JSON's escapes in upper case", rewritten((unit) => `\\u${hex(unit, 4).toUpperCase()}`)],
    ["a URL's escapes of all its characters", rewritten((unit) => `%${hex(unit, 2)}`)],
    ["a URL's escapes of zero-width spaces between its characters", separated('%E2%80%8B')],
    ["JSON's escapes of zero-width spaces between its characters", separated('\\u200b')],
    ["JSON's escapes of surrogate pairs between its characters", separated('\\udb40\\udd01')],
    ["JSON's escapes of line breaks between its characters", JSON.stringify(separated('\n')).slice(1, -1)],
    ['hexadecimal digits in upper case', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['base64 in short lines', Buffer.from(KEY).toString('base64').replaceAll(/.{4}/g, '$&\r\n').trimEnd()],
    ['hexadecimal digits in pairs', Buffer.from(KEY).toString('hex').replaceAll(/../g, '$& ').trimEnd()],
  ])('written in %s', (_, text) => {
    expect(redact(`<${text}>`)).toBe('<[redacted]>');
  });

  it('wherever it occurs, and keeps the text in between', () => {
    const [hidden, wide] = [separated('\u200b'), rewritten((unit) => String.fromCharCode(unit + FULL_WIDTH))];
    expect(redact(`na\u00efve ${hidden}, ${KEY}\n${wide}${hidden} 50%\u200b`)).toBe(
      'na\u00efve [redacted], [redacted]\n[redacted][redacted] 50%\u200b',
    );
  });

  it('that overlaps another key', () => {
    const both = redactor(['abcdefgh1234', '1234ijklmnop']);
    expect(both(`<${separated('\u200b', 'abcdefgh1234ijklmnop')}>`)).toBe('<[redacted]>');
  });

  it('as a whole, even if another key is its beginning', () => {
    expect(redactor(['abcd', 'abcdefgh'])('<abcdefgh>')).toBe('<[redacted]>');
  });

  it.each(['', 'k', 'ke', 'Bearer '])('of eight characters within longer base64, after %j', (before) => {
    // In each of these texts the base64 of the secret has a + or a /, which base64url replaces.
    const secret = '???>>>??';
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${before}${secret}!`).toString(alphabet);
      expect(redactor([secret])(text)).toContain('[redacted]');
    }
  });

  it('in texts of the Hugging Face Hub', () => {
    const token = 'hf_aFakeTokenOfNobody';
    for (const between of ['\u200b', ' ', '\u00ad']) {
      expect(redacted(`token ${separated(between, token)}.`, token)).toBe('token hf_***.');
    }
  });

  it('of random characters, with invisible and blank characters between them', () => {
    const secrets = fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(...'abcXYZ0189-_+/=.~') });
    const noise = fc.constantFrom('', '', ...INVISIBLE, ...BLANK);
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
    const special = fc.constantFrom(...INVISIBLE, ...BLANK, '%41', '\\u0041', '\\n', '\\', '%');
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
    ['a short secret across two words', 'hide', 'which ideas'],
    ['a secret of seven characters across three words', 'chidden', 'which id dens'],
    ['a secret that is too short without its combining marks', 'a\u0301\u0301\u0301', 'banana'],
    [
      'a secret of seven characters within longer base64',
      '???>>>?',
      Buffer.from('k???>>>??').toString('base64'),
    ],
    ['the word EMPTY, which is no secret key', 'EMPTY', 'EMPTY'],
    ['the word test, if the key is tést', 't\u00e9st', 'a test'],
    ['a secret of fewer than four characters', 'abc', 'abcabc'],
  ])('%s', (_, secret, text) => {
    expect(redactor([secret])(text)).toBe(text);
  });
});

it('a redactor finds a short secret across zero-width characters, and a secret of eight characters across spaces', () => {
  expect(redactor(['hide'])(`<${separated('\u200b', 'hide')}>`)).toBe('<[redacted]>');
  expect(redactor(['hidehide'])('<hide hide>')).toBe('<[redacted]>');
});
