/** Tests of parsing unusual and hostile texts: the result is correct, and the time is linear in the length. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCompletion, parseCompletions } from '../../../src/rollouts/text/parse-completions.js';
import { naiveParse } from '../../support/naive-parse.js';
import { DRAWS, drawsOf } from '../../support/random.js';

const LONG = 2 ** 18;

/** Texts that repeat a piece between a start and an end. */
const PIECES: [what: string, piece: string, start?: string, end?: string][] = [
  ['line feeds', '\n'],
  ['CR LF', '\r\n'],
  ['LF, CR, CR', '\n\r\r'],
  ['spaces', ' '],
  ['wide spaces', '\u3000'],
  ['commas', ','],
  ['colons', ':'],
  ['colons, each on a line', ':\n'],
  ['colons only in the first line', ':', '', '\nx'.repeat(1000)],
  ['lines without a colon, then a colon', 'x\n', '', ':'],
  ['quotes', '"'],
  ['quotes, then an answer', '"', '', '1 2 3 SLEEP'],
  ['full stops', '.'],
  ['full stops after a word', '.', '1 2 3 SLEEP'],
  ['digits', '7'],
  ['digits separated by spaces', '7 '],
  ['four digits a line', '7 7 7 7\n'],
  ['names', 'SLEEP '],
  ['names without separators', 'deep_work'],
  ['almost a name', 'deep_wor'],
  ['almost answers', '1 2 3 DEEP_WORX\n'],
  ['labelled almost answers', 'a: 1 2 3 DEEP_WORX\n'],
  ['less-than signs', '<'],
  ['opening tags', '<reasoning>'],
  ['closing tags', '</REASONING>'],
  ['nested tags', '<reasoning></reasoning>', '<reasoning>'],
  ['almost closing tags', '</reasonin'],
  ['tags of two names', '<think></reasoning>'],
  ['tags in brackets', '[THINK][/think]', '1 2 3 SLEEP'],
  ['opening brackets', '['],
  ['tags in tags', '</reason<reasoning>ing>'],
  ['an answer in the first line', 'x\n', '1 2 3 SLEEP\n'],
  ['surrogates in the wrong order', '\udc00\ud83d'],
  ['emoji', '🛌'],
  ['a letter whose lower case is longer', 'İ'],
  ['NUL', '\0'],
  ['combining marks', 'e\u0301'],
];
const textOf = (length: number, piece: string, start = '', end = ''): string =>
  start + piece.repeat(Math.ceil(length / piece.length)) + end;

/** Counts the characters that a call reads with `charCodeAt`. */
function readsOf(call: () => void): number {
  const { charCodeAt } = String.prototype;
  let reads = 0;
  String.prototype.charCodeAt = function (this: string, at: number) {
    reads++;
    return charCodeAt.call(this, at);
  };
  try {
    call();
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
  return reads;
}

describe.each(PIECES)('%s', (_, piece, start, end) => {
  it('is parsed correctly at a length of 262,144 characters or more', () => {
    const text = textOf(LONG, piece, start, end);
    const { actionName: action, digits } = parseCompletion(text);
    expect({ action, digits }).toEqual(naiveParse(text));
  });

  it('is parsed with fewer than eight reads per character', () => {
    const text = textOf(20_000, piece, start, end);
    const reads = readsOf(() => parseCompletion(text));
    expect(reads).toBeLessThan(8 * text.length);
  });
});

it('lines are read only with charCodeAt, and tags by one regular expression without repetition', () => {
  expect(readsOf(() => parseCompletion('x y'))).toBeGreaterThan(0);
  const source = readFileSync(
    new URL('../../../src/rollouts/text/answer-grammar.ts', import.meta.url),
    'utf8',
  );
  const [, reading] = source.split('export function parseAnswer');
  const methods = Array.from(reading.matchAll(/\btext\.(\w+)/g), ([, name]) => name);
  expect([...new Set(methods)].sort()).toEqual(['charCodeAt']);
  const tags = readFileSync(new URL('../../../src/rollouts/text/thoughts.ts', import.meta.url), 'utf8');
  expect(/^ {2}(\/.*\/gi);$/m.exec(tags)![1].match(/[*+{}]/)).toBeNull();
});

describe('random texts', () => {
  // U+212A in lower case is k, ſ in upper case is S, and İ in lower case has two units.
  const odd = fc.constantFrom(
    ...'<>/:.,!;\n\r\t \u00a0"\'`*()[]{}-_0359sSkK\u212aſİ\0',
    '\ud83d',
    '\udc00',
    ...['reasoning', '<think>', '</think>', '[/THINK]'],
  );
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.array(odd, { maxLength: 400 }).map((parts) => parts.join('')),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
      .map((units) => String.fromCharCode(...units)),
  );

  it('are parsed as by the naive parser', () => {
    const property = fc.property(anything, (text) => {
      for (const thought of ['closed', 'open'] as const) {
        const { actionName: action, digits } = parseCompletion(text, { thought });
        expect({ action, digits }).toEqual(naiveParse(text, thought));
      }
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(3000) });
  });

  it('do not affect later answers or other texts', () => {
    const property = fc.property(anything, (text) => {
      const answered = `${text}\n</reasoning></think>4 5 6 LEARN`;
      const { actions, given } = parseCompletions(['1 2 3 SLEEP', text, answered, 'LEARN']);
      const [sleep, learn] = [parseCompletion('SLEEP').action, parseCompletion('LEARN').action];
      expect([actions[0], actions[2], actions[3]]).toEqual([sleep, learn, learn]);
      expect([given[0], given[2], given[3]]).toEqual([1, 1, 0]);
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(500) });
  });
});

it('a string built by many concatenations, or cut from one, is parsed like any other', () => {
  let sum = '';
  for (let k = 0; k < 10_000; k++) sum += k % 2 === 0 ? 'thought ' : '<reasoning>';
  sum += '</reasoning>\n3 8 7 DEEP_WORK';
  expect(parseCompletion(sum)).toMatchObject({ actionName: 'deep_work', digits: [3, 8, 7] });
  expect(parseCompletion(sum.slice(40))).toMatchObject({ actionName: 'deep_work', digits: [3, 8, 7] });
});
