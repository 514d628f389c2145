/** Tests the parsing of completions: golden cases, edge cases, a simple implementation, and hostile texts, parsed in linear time. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, type ErrorCode, parseCompletion, parseCompletions } from '../../../src/index.js';
import { anyText, DRAWS, drawsOf } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

// A naive parser of the text form, by the rules of docs/world.md.

interface NaiveAnswer {
  readonly action: string | null;
  readonly digits: readonly number[] | null;
}

const NAME = `(${ACTION_NAMES.join('|').replaceAll('_', '[-_]')})`;
const DIGITS = '(\\d) (\\d) (\\d)';
const actionNameOf = (name: string): string => name.toLowerCase().replaceAll('-', '_');
const FORMS: readonly [form: RegExp, read: (match: readonly string[]) => NaiveAnswer][] = [
  [new RegExp(`^${DIGITS} ${NAME}$`, 'i'), ([, s, m, w, name]) => answer(name, [s, m, w])],
  [new RegExp(`^${NAME} ${DIGITS}$`, 'i'), ([, name, s, m, w]) => answer(name, [s, m, w])],
  [new RegExp(`^${NAME}$`, 'i'), ([, name]) => answer(name, null)],
  [new RegExp(`^${DIGITS}$`), ([, ...digits]) => answer(null, digits)],
];

const answer = (name: string | null, digits: readonly string[] | null): NaiveAnswer => ({
  action: name === null ? null : actionNameOf(name),
  digits: digits?.map(Number) ?? null,
});

function parseLine(line: string): NaiveAnswer | null {
  const pieces = line
    .replace(/[`*"'()[\]{}]/g, '')
    .split(/[\s,]+/)
    .map((piece) => piece.replace(/[.!;:]+$/, ''))
    .filter((piece) => piece !== '');
  for (const [form, read] of FORMS) {
    const match = form.exec(pieces.join(' '));
    if (match !== null) return read(match);
  }
  return null;
}

const NAMES = 'reasoning think thinking thought thoughts reflection analysis scratchpad seed:think'.split(
  ' ',
);
const OPENING = [...NAMES.map((name) => `<${name}>`), '[think]'];
const CLOSING = [...NAMES.map((name) => `</${name}>`), '[/think]'];
/** Lower case of ASCII letters only, so that no text changes its length. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns the text that may contain an answer: what follows the last finished thought, up to an unfinished one. */
function outsideThoughts(text: string, thought: 'closed' | 'open'): string {
  const tags = lower(text).split(/(<[^<>[\]]*>|\[[^<>[\]]*\])/);
  let opened: string | null = thought === 'open' ? '' : null;
  let [at, from, to, finished] = [0, 0, text.length, false];
  let inner: string[] = [];
  for (const tag of tags) {
    const name = tag.replace(/[<>[\]/]/g, '');
    if (CLOSING.includes(tag) && (opened || name) === name && !inner.includes(name)) {
      [opened, from, to, finished] = [null, at + tag.length, text.length, true];
      inner = [];
    } else if (OPENING.includes(tag)) {
      const repeated = opened === '' && text.slice(0, at).trim() === '';
      if (opened === null || repeated) [opened, to] = [name, at];
      else if (opened === '') inner.push(name);
    }
    at += tag.length;
  }
  return opened !== null && !finished ? '' : text.slice(from, to);
}

/** Returns the action and the digits of the belief in an answer; null for each that it lacks. */
function naiveParse(text: string, thought: 'closed' | 'open' = 'closed'): NaiveAnswer {
  for (const line of outsideThoughts(text, thought)
    .split(/\r\n|\r|\n/)
    .reverse()) {
    const unlabelled = line.includes(':') ? parseLine(line.slice(line.indexOf(':') + 1)) : null;
    const read = unlabelled ?? parseLine(line);
    if (read !== null) return read;
  }
  return answer(null, null);
}

interface GoldenCase {
  readonly text: string;
  readonly action: string | null;
  readonly belief_digits: number[] | null;
}
const golden = JSON.parse(readFileSync(new URL('../../golden/parser.json', import.meta.url), 'utf8')) as {
  cases: GoldenCase[];
};

/** Parses a text. Returns the action's name and the digits. */
const read = (text: string) => {
  const { actionName, digits } = parseCompletion(text);
  return { action: actionName, digits };
};

describe('golden cases', () => {
  it.each(golden.cases)('$text', ({ text, action, belief_digits }) => {
    expect(read(text)).toEqual({ action, digits: belief_digits });
  });
});

describe('edge cases of the rules', () => {
  const nothing = [null, null];
  /** Texts, and the action's name and the digits in each answer. */
  const cases: [what: string, text: string, answer: (string | null)[]][] = [
    [
      'a second reasoning that is not closed',
      '<reasoning>a</reasoning>\n1 1 1 LEARN\n<reasoning>b',
      ['learn', '111'],
    ],
    ['an answer inside a thought that was cut off', '<think>\n1 2 3 SLEEP\nwould', nothing],
    ['an answer on the line that ends a thought', '<think>hm</think>1 2 3 LEARN', ['learn', '123']],
    [
      'a thought of which the prompt has the opening tag',
      '1 2 3 SLEEP\n</think>4 5 6 LEARN',
      ['learn', '456'],
    ],
    ["the tags of Mistral's models", '[THINK]\n1 1 1 LEARN\n[/THINK]2 2 2 SLEEP', ['sleep', '222']],
    ["an unfinished thought of Mistral's models", '[THINK]\n1 1 1 LEARN\n', nothing],
    ['a closing tag of another name inside a thought', '<think>a</reasoning>\n1 1 1 LEARN\n', nothing],
    [
      'an opening tag of another name inside a thought',
      '<think>a <reasoning></think>1 1 1 LEARN',
      ['learn', '111'],
    ],
    ['an answer before an unfinished thought alone', '1 1 1 LEARN\n<think>\nno', nothing],
    ['a heading that is no tag', '[Analysis]\n1 1 1 LEARN', ['learn', '111']],
    ['an opening tag after the answer', '1 1 1 LEARN <Reasoning>', nothing],
    ['a closing tag within an opening tag', '<reasoning</reasoning>2 2 2 SLEEP', ['sleep', '222']],
    ['<reasoning >, which is no tag', '<reasoning >2 2 2 SLEEP', nothing],
    ['< reasoning> on its own line, which is no tag', '< reasoning>\n2 2 2 SLEEP', ['sleep', '222']],
    ['nothing after the closing tag', '2 2 2 SLEEP</reasoning>', nothing],
    ['a control character in place of the slash', '<reasoning>x<\x0freasoning>\n2 2 2 SLEEP', nothing],
    ['a non-ASCII letter whose upper case is S', '<reaſoning>2\n2 2 2 SLEEP', ['sleep', '222']],
    ['a non-ASCII letter whose lower case is k', '2 2 2 DEEP_WOR\u212a', nothing],
    ['a label that is an answer', '1 2 3 SLEEP: 4 5 6 LEARN', ['learn', '456']],
    ['a label with nothing after it', '1 2 3 SLEEP:', ['sleep', '123']],
    ['a line with only a colon', 'SLEEP\n:', ['sleep', null]],
    ['a label in bold', '**Answer:** 4 5 6 LEARN', ['learn', '456']],
    ['brackets within a word', '4 5 6 {de}(ep)_[wo]"rk"', ['deep_work', '456']],
    ['commas as separators', ',4,5,,6,learn,', ['learn', '456']],
    ['punctuation between words', '. 4. 5! 6; . SLEEP:', ['sleep', '456']],
    ['a full stop before a word', '4 5 6 .SLEEP', nothing],
    ['a full stop before a quote', '"4" 5 6 SLEEP."', ['sleep', '456']],
    ['the start of a name', '4 5 6 DEEP', nothing],
    ['a hyphen within a word of a name', '4 5 6 de-ep', nothing],
    ['the action before the digits', 'Me-Time 9 0 4', ['me_time', '904']],
    ['an action between digits', '9 0 SLEEP 4', nothing],
    ['line breaks of every kind', '1 1 1 LEARN\r\n\r\n\n\r', ['learn', '111']],
    ['separators that are not line breaks', '1\u20281\u20291\vLEARN', ['learn', '111']],
    [
      'spaces that are not ASCII',
      '1\u00a0\u16801\u2000\u200a1\u202f\u205f\u3000LEARN\ufeff',
      ['learn', '111'],
    ],
    ['invisible characters that are not spaces', '1\u180e1\u200b1 LEARN', nothing],
    ['a lone surrogate on its own line', '1 1 1 LEARN\n\udc00', ['learn', '111']],
    ['typographic quotes', '“1 1 1 LEARN”', nothing],
  ];
  it.each(cases)('%s', (_, text, [action, digits]) => {
    expect(read(text)).toEqual({ action, digits: digits?.split('').map(Number) ?? null });
    expect(naiveParse(text)).toEqual(read(text));
  });

  it.each([
    ...['reasoning', 'think', 'thinking', 'thought', 'thoughts', 'reflection', 'analysis', 'scratchpad'],
    'seed:think',
  ])('a thought between tags named %s', (name) => {
    expect(read(`<${name}>\n1 2 3 SLEEP\nwould`)).toEqual({ action: null, digits: null });
    expect(read(`<${name}>\n1 2 3 SLEEP\n</${name}>4 5 6 LEARN`)).toEqual({
      action: 'learn',
      digits: [4, 5, 6],
    });
    expect(read(`1 2 3 SLEEP\n</${name}>\n4 5 6 LEARN`)).toEqual({ action: 'learn', digits: [4, 5, 6] });
  });
});

describe('a simple implementation', () => {
  const word = fc.oneof(
    fc.constantFrom(...'0123456789', '10', '', 'x', 'I', '“', 'ſ', '٣'),
    fc.constantFrom(...ACTION_NAMES, ...ACTION_NAMES.map((name) => name.toUpperCase().replace('_', '-'))),
    fc.constantFrom('deep', 'DEEP_', '_work', '<reasoning>', '</reasoning>', '</REASONING>', '<', 'Answer'),
    fc.constantFrom('<think>', '</think>', '[THINK]', '[/THINK]', '<thinking>', '</Thinking>'),
  );
  const separators = [', ', '\t', '\u00a0', '', ':', '.', '. ', '; ', '**', '"', '\n', '\r\n'];
  const between = fc.constantFrom(' ', ' ', ' ', ' ', ...separators);
  const line = fc.oneof(
    fc.array(fc.tuple(word, between), { maxLength: 8 }).map((parts) => parts.flat().join('')),
    fc
      .tuple(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 4 }),
        fc.constantFrom(...ACTION_NAMES),
        between,
      )
      .map(([digits, name, end]) => `${digits.join(' ')} ${name}${end}`),
  );
  const texts = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 5 }), fc.constantFrom('\n', '\r', '\r\n', ' '))
    .map(([lines, end]) => lines.join(end));

  // U+212A in lower case is k, ſ in upper case is S, and İ in lower case has two units.
  const odd = fc.constantFrom(
    ...'<>/:.,!;\n\r\t \u00a0"\'`*()[]{}-_0359sSkK\u212aſİ\0',
    '\ud83d',
    '\udc00',
    ...['reasoning', '<think>', '</think>', '[/THINK]'],
  );
  const anything = fc.oneof(
    anyText(400),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.array(odd, { maxLength: 400 }).map((parts) => parts.join('')),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
      .map((units) => String.fromCharCode(...units)),
  );

  it('gives the same results for random texts', () => {
    const found = { answers: 0, partly: 0 };
    const property = fc.property(fc.oneof(texts, anything), (text) => {
      for (const thought of ['closed', 'open'] as const) {
        const { actionName: action, digits } = parseCompletion(text, { thought });
        expect({ action, digits }).toEqual(naiveParse(text, thought));
        if (action !== null && digits !== null) found.answers++;
        else if (action !== null || digits !== null) found.partly++;
      }
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(8000) });
    expect(found.answers).toBeGreaterThan(drawsOf(500));
    expect(found.partly).toBeGreaterThan(drawsOf(100));
  });

  it('gives the same results for random texts among others, which do not affect each other', () => {
    const property = fc.property(anything, (text) => {
      const answered = `${text}\n</reasoning></think>4 5 6 LEARN`;
      const { actions, given } = parseCompletions(['1 2 3 SLEEP', text, answered, 'LEARN']);
      const [sleep, learn] = ['sleep', 'learn'].map((name) => ACTION_NAMES.indexOf(name as never));
      expect([actions[0], actions[2], actions[3]]).toEqual([sleep, learn, learn]);
      expect([given[0], given[2], given[3]]).toEqual([1, 1, 0]);
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(500) });
  });
});

it('every UTF-16 code unit between and within words is parsed as by the simple implementation', () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
  const between = units.map((unit) => `1${unit}1${unit}1 LEARN`);
  // The case of letters has no other code units than these and full-width ones.
  const within = [...units.slice(0, 0x2200), ...units.slice(0xff00)].map((unit) => `1 1 1 SL${unit}EP`);
  const wrong = [...between, ...within].filter((text) => {
    const { action, digits } = naiveParse(text);
    const read = parseCompletion(text);
    return action !== read.actionName || String(digits) !== String(read.digits);
  });
  expect(wrong).toEqual([]);
});

describe('the result', () => {
  it('of one completion has its action, belief and digits', () => {
    expect(parseCompletion('0 3 9 SLEEP')).toEqual({
      action: ACTION_NAMES.indexOf('sleep'),
      actionName: 'sleep',
      belief: [0, Math.fround(1 / 3), 1],
      digits: [0, 3, 9],
      given: true,
    });
    const none = { action: null, actionName: null, belief: [0.5, 0.5, 0.5], digits: null, given: false };
    expect(parseCompletion('zzz')).toEqual(none);
  });

  it.each(['half', 'nan'] as const)(
    'of many completions equals that of single calls, no belief being %s',
    (noBelief) => {
      const texts = golden.cases.map(({ text }) => text);
      const parsed = texts.map((text) => parseCompletion(text));
      const beliefs = parsed.flatMap(({ belief, given }) =>
        given || noBelief === 'half' ? belief : Array(3).fill(Number.NaN),
      );
      expect(parseCompletions(texts, { noBelief })).toEqual({
        actions: Int8Array.from(parsed, ({ action }) => action ?? -1),
        beliefs: Float32Array.from(beliefs),
        given: Uint8Array.from(parsed, ({ given }) => Number(given)),
      });
      const none = { actions: new Int8Array(), beliefs: new Float32Array(), given: new Uint8Array() };
      expect(parseCompletions([])).toEqual(none);
    },
  );

  it('of completions that begin inside a thought is that of the text after it', () => {
    const pair = 'so <reasoning>a</reasoning>, or <reasoning>b</reasoning>\n1 2 3 SLEEP\nBut';
    const texts = ['hm\n1 2 3 SLEEP\nwould', 'hm\n1 2 3 SLEEP\n</think>4 5 6 LEARN', '</think>SLEEP', pair];
    const more = [`${pair}</think>LEARN`, ' <think>hm</think>LEARN', '<think>\nSLEEP\n'];
    const { actions } = parseCompletions([...texts, ...more], { thought: 'open' });
    const names = Array.from(actions, (code) => ACTION_NAMES[code] ?? null);
    expect(names).toEqual([null, 'learn', 'sleep', null, 'learn', 'learn', null]);
  });
});

describe('parsing refuses, with the code and the place,', () => {
  const any = (value: unknown) => value as never;
  it.each<[ErrorCode, mention: string, call: () => unknown]>([
    ['wrong_type', 'text, got null', () => parseCompletion(any(null))],
    ['wrong_type', 'an array of 1', () => parseCompletion(any([{ role: 'assistant', content: '' }]))],
    ['wrong_type', 'an object', () => parseCompletion(any(new String('SLEEP')))],
    ['unknown_name', '"open"', () => parseCompletion('', { thought: any('opened') })],
    ['wrong_type', 'texts', () => parseCompletions(any('SLEEP'))],
    ['out_of_range', 'the number of texts', () => parseCompletions(new Array(2 ** 32 - 1))],
    ['wrong_type', 'texts[1]', () => parseCompletions(any(['SLEEP', 3]))],
    ['wrong_type', 'texts[0]', () => parseCompletions(new Array(1))],
    ['unknown_option', 'noBelief', () => parseCompletions([], any({ nobelief: 'nan' }))],
    ['unknown_name', '"nan"', () => parseCompletions([], any({ noBelief: 'NaN' }))],
    ['wrong_type', 'noBelief', () => parseCompletions([], any({ noBelief: 0.5 }))],
  ])('%s, %s', (code, mention, call) => {
    expectRefusal(call, code, mention);
  });
});

const LONG = 2 ** 17;

/** Texts that repeat a piece between a start and an end. */
const PIECES: [what: string, piece: string, start?: string, end?: string][] = [
  ['line feeds', '\n'],
  ['LF, CR, CR', '\n\r\r'],
  ['spaces', ' '],
  ['colons', ':'],
  ['colons, each on a line', ':\n'],
  ['colons only in the first line', ':', '', '\nx'.repeat(1000)],
  ['lines without a colon, then a colon', 'x\n', '', ':'],
  ['quotes, then an answer', '"', '', '1 2 3 SLEEP'],
  ['full stops after a word', '.', '1 2 3 SLEEP'],
  ['digits separated by spaces', '7 '],
  ['names', 'SLEEP '],
  ['names without separators', 'deep_work'],
  ['almost answers', '1 2 3 DEEP_WORX\n'],
  ['labelled almost answers', 'a: 1 2 3 DEEP_WORX\n'],
  ['less-than signs', '<'],
  ['opening tags', '<reasoning>'],
  ['closing tags', '</REASONING>'],
  ['nested tags', '<reasoning></reasoning>', '<reasoning>'],
  ['almost closing tags', '</reasonin'],
  ['tags of two names', '<think></reasoning>'],
  ['tags in brackets', '[THINK][/think]', '1 2 3 SLEEP'],
  ['tags in tags', '</reason<reasoning>ing>'],
  ['an answer in the first line', 'x\n', '1 2 3 SLEEP\n'],
  ['surrogates in the wrong order', '\udc00\ud83d'],
  ['a letter whose lower case is longer', 'İ'],
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
  it('is parsed correctly at a length of 131,072 characters or more', () => {
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

it('the reads of a line are counted', () => {
  expect(readsOf(() => parseCompletion('x y'))).toBeGreaterThan(0);
});

it('a string built by many concatenations, or cut from one, is parsed like any other', () => {
  let sum = '';
  for (let k = 0; k < 10_000; k++) sum += k % 2 === 0 ? 'thought ' : '<reasoning>';
  sum += '</reasoning>\n3 8 7 DEEP_WORK';
  expect(parseCompletion(sum)).toMatchObject({ actionName: 'deep_work', digits: [3, 8, 7] });
  expect(parseCompletion(sum.slice(40))).toMatchObject({ actionName: 'deep_work', digits: [3, 8, 7] });
});
