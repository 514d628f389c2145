/** Tests the parsing of completions: golden cases, edge cases of each rule, and comparisons with a simple implementation. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, createVecEnv, parseCompletion, parseCompletions } from '../../../src/index.js';
import { naiveParse } from '../../support/naive-parse.js';
import { DRAWS, drawsOf } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

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

  it('are parsed in one call, too', () => {
    const { actions, beliefs, given } = parseCompletions(golden.cases.map(({ text }) => text));
    const digits = golden.cases.map(({ belief_digits }) => belief_digits);
    expect(Array.from(actions, (code) => ACTION_NAMES[code] ?? null)).toEqual(
      golden.cases.map(({ action }) => action),
    );
    expect(Array.from(given)).toEqual(digits.map((each) => Number(each !== null)));
    expect(Array.from(beliefs)).toEqual(
      digits.flatMap((each) => each?.map((digit) => Math.fround(digit / 9)) ?? [0.5, 0.5, 0.5]),
    );
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
    ['an answer inside a thought, and none after it', '<think>\n1 2 3 SLEEP\n</think>\n', nothing],
    ['an answer on the line that ends a thought', '<think>hm</think>1 2 3 LEARN', ['learn', '123']],
    [
      'a thought of which the prompt has the opening tag',
      '1 2 3 SLEEP\n</think>4 5 6 LEARN',
      ['learn', '456'],
    ],
    [
      'a second thought that is not closed',
      '<think>a</think>1 1 1 LEARN\n<think>\n2 2 2 SLEEP',
      ['learn', '111'],
    ],
    ['a thought in upper case', '<THINK>1 1 1 LEARN</Think>\n2 2 2 SLEEP', ['sleep', '222']],
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
    ['an incomplete closing tag', '<reasoning>x</reasoning\n2 2 2 SLEEP', nothing],
    ['nothing after the closing tag', '2 2 2 SLEEP</reasoning>', nothing],
    ['a control character in place of the slash', '<reasoning>x<\x0freasoning>\n2 2 2 SLEEP', nothing],
    ['a non-ASCII letter whose upper case is S', '<reaſoning>2\n2 2 2 SLEEP', ['sleep', '222']],
    ['a non-ASCII letter whose lower case is k', '2 2 2 DEEP_WOR\u212a', nothing],
    ['a label that is an answer', '1 2 3 SLEEP: 4 5 6 LEARN', ['learn', '456']],
    ['a label with nothing after it', '1 2 3 SLEEP:', ['sleep', '123']],
    ['a label with no answer after it', '1 2 3: 4 SLEEP', nothing],
    ['a line with only a colon', 'SLEEP\n:', ['sleep', null]],
    ['a label in bold', '**Answer:** 4 5 6 LEARN', ['learn', '456']],
    ['brackets within a word', '4 5 6 {de}(ep)_[wo]"rk"', ['deep_work', '456']],
    ['brackets without separators', '[4][5][6] LEARN', nothing],
    ['commas as separators', ',4,5,,6,learn,', ['learn', '456']],
    ['punctuation between words', '. 4. 5! 6; . SLEEP:', ['sleep', '456']],
    ['a full stop before a word', '4 5 6 .SLEEP', nothing],
    ['a full stop within a word', '4 5 6 SL.EEP', nothing],
    ['a full stop before a quote', '"4" 5 6 SLEEP."', ['sleep', '456']],
    ['the start of a name', '4 5 6 DEEP', nothing],
    ['a name and another letter', '4 5 6 SLEEPS', nothing],
    ['a hyphen within a word of a name', '4 5 6 de-ep', nothing],
    ['the action before the digits', 'Me-Time 9 0 4', ['me_time', '904']],
    ['an action between digits', '9 0 SLEEP 4', nothing],
    ['an action before and after', 'SLEEP 9 0 4 SLEEP', nothing],
    ['four digits after the action', 'SLEEP 9 0 4 4', nothing],
    ['two digits', 'SLEEP\n9 0', ['sleep', null]],
    ['a number of two digits', '90 4 SLEEP', nothing],
    ['an answer before a line without an answer', '4 5 6 LEARN\nI hope so', ['learn', '456']],
    ['line breaks of every kind', '1 1 1 LEARN\r\n\r\n\n\r', ['learn', '111']],
    ['separators that are not line breaks', '1\u20281\u20291\vLEARN', ['learn', '111']],
    [
      'spaces that are not ASCII',
      '1\u00a0\u16801\u2000\u200a1\u202f\u205f\u3000LEARN\ufeff',
      ['learn', '111'],
    ],
    ['invisible characters that are not spaces', '1\u180e1\u200b1 LEARN', nothing],
    ['a lone surrogate', '1 1 1 LEARN\ud83d', nothing],
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

  it.each(ACTION_NAMES)('%s in different spellings', (name) => {
    for (const spelt of [name, name.toUpperCase(), name.replaceAll('_', '-'), ` ${name}!`]) {
      expect(read(`0 9 5 ${spelt}`)).toEqual({ action: name, digits: [0, 9, 5] });
    }
  });
});

describe('a simple implementation', () => {
  const word = fc.oneof(
    fc.constantFrom(...'0123456789', '10', '', 'x', 'I', '“', 'ſ', '٣'),
    fc.constantFrom(...ACTION_NAMES, ...ACTION_NAMES.map((name) => name.toUpperCase().replace('_', '-'))),
    fc.constantFrom('deep', 'DEEP_', '_work', '<reasoning>', '</reasoning>', '</REASONING>', '<', 'Answer'),
    fc.constantFrom('<think>', '</think>', '[THINK]', '[/THINK]', '<thinking>', '</Thinking>'),
  );
  const between = fc.constantFrom(
    ' ',
    ' ',
    ' ',
    ' ',
    ', ',
    '\t',
    '\u00a0',
    '',
    ':',
    '.',
    '. ',
    '; ',
    '**',
    '"',
    '\n',
    '\r\n',
  );
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

  it('gives the same results for random texts', () => {
    const found = { answers: 0, partly: 0 };
    const property = fc.property(texts, fc.constantFrom('closed', 'open'), (text, thought) => {
      const { actionName: action, digits } = parseCompletion(text, { thought });
      expect({ action, digits }).toEqual(naiveParse(text, thought));
      if (action !== null && digits !== null) found.answers++;
      else if (action !== null || digits !== null) found.partly++;
    });
    fc.assert(property, { ...DRAWS, numRuns: drawsOf(5000) });
    expect(found.answers).toBeGreaterThan(drawsOf(500));
    expect(found.partly).toBeGreaterThan(drawsOf(100));
  });
});

it('every UTF-16 code unit between and within words is parsed as by the simple implementation', () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
  const wrong = units.filter((unit) =>
    [`1${unit}1${unit}1 LEARN`, `1 1 1 SL${unit}EP`].some((text) => {
      const { action, digits } = naiveParse(text);
      const { actionName, digits: readDigits } = parseCompletion(text);
      return action !== actionName || String(digits) !== String(readDigits);
    }),
  );
  expect(wrong).toEqual([]);
});

describe('the result', () => {
  it('of one completion has its action, belief and digits', () => {
    const third = Math.fround(1 / 3);
    expect(parseCompletion('0 3 9 SLEEP')).toEqual({
      action: ACTION_NAMES.indexOf('sleep'),
      actionName: 'sleep',
      belief: [0, third, 1],
      digits: [0, 3, 9],
      given: true,
    });
    expect(parseCompletion('zzz')).toEqual({
      action: null,
      actionName: null,
      belief: [0.5, 0.5, 0.5],
      digits: null,
      given: false,
    });
  });

  it('of many completions equals that of single calls', () => {
    const texts = [...golden.cases, ...golden.cases].map(({ text }) => text);
    const { actions, beliefs, given } = parseCompletions(texts);
    expect([actions, beliefs, given].map((array) => array.constructor)).toEqual([
      Int8Array,
      Float32Array,
      Uint8Array,
    ]);
    texts.forEach((text, i) => {
      const one = parseCompletion(text);
      expect([actions[i], given[i]]).toEqual([one.action ?? -1, Number(one.given)]);
      expect(Array.from(beliefs.subarray(3 * i, 3 * i + 3))).toEqual(one.belief);
    });
  });

  it('of no completions is empty arrays', () => {
    expect(parseCompletions([])).toEqual({
      actions: new Int8Array(),
      beliefs: new Float32Array(),
      given: new Uint8Array(),
    });
  });

  it('of completions that begin inside a thought is that of the text after it', () => {
    const texts = [
      'hm\n1 2 3 SLEEP\nwould',
      'hm\n1 2 3 SLEEP\n</think>4 5 6 LEARN',
      '4 5 6 LEARN',
      '</think>SLEEP',
    ];
    const named = (thought?: 'closed' | 'open') =>
      Array.from(parseCompletions(texts, { thought }).actions, (code) => ACTION_NAMES[code] ?? null);
    expect(named('open')).toEqual([null, 'learn', null, 'sleep']);
    expect(named('closed')).toEqual(['sleep', 'learn', 'learn', 'sleep']);
    expect(named()).toEqual(named('closed'));
    expect(texts.map((text) => parseCompletion(text, { thought: 'open' }).actionName)).toEqual(named('open'));
    const pair = 'so <reasoning>a</reasoning>, or <reasoning>b</reasoning>\n1 2 3 SLEEP\nBut';
    const actionOf = (text: string) => parseCompletion(text, { thought: 'open' }).actionName;
    expect([pair, `${pair}</think>LEARN`, 'the tag <reasoning>\n</think>LEARN'].map(actionOf)).toEqual([
      null,
      'learn',
      'learn',
    ]);
    expect([' <think>hm</think>LEARN', '<think>\nSLEEP\n'].map(actionOf)).toEqual(['learn', null]);
    expectRefusal(
      () => parseCompletion('', { thought: 'opened' as never }),
      'unknown_name',
      'thought',
      '"open"',
    );
  });

  it('can be passed to step, with NaN for missing beliefs', () => {
    using env = createVecEnv({ numEnvs: 3 });
    env.reset({ seed: 5 });
    const texts = ['9 0 9 SLEEP', 'well', 'LEARN'];
    const { actions, beliefs, given } = parseCompletions(texts, { noBelief: 'nan' });
    expect(Array.from(beliefs)).toEqual([1, 0, 1, ...Array(6).fill(Number.NaN)]);
    const { observations } = env.step(actions, { beliefs, mask: actions.map((code) => Number(code >= 0)) });
    expect(Array.from({ length: 3 }, (_, i) => observations[22 * i])).toEqual([1, 0, 1]);
    const { beliefMae } = env.run('heuristic');
    const targets = env.beliefTargets();
    expect(given).toEqual(Uint8Array.of(1, 0, 0));
    const mae = [1, 0, 1].reduce((sum, belief, k) => sum + Math.abs(belief - targets[k]), 0) / 3;
    expect(beliefMae[0]).toBeCloseTo(mae, 6);
  });
});

describe('parsing refuses', () => {
  const any = (value: unknown) => value as never;
  it('a text that is not a string', () => {
    expectRefusal(() => parseCompletion(any(null)), 'wrong_type', 'text', 'null');
    expectRefusal(
      () => parseCompletion(any([{ role: 'assistant', content: '' }])),
      'wrong_type',
      'an array of 1',
    );
    expectRefusal(() => parseCompletion(any(new String('SLEEP'))), 'wrong_type', 'an object');
  });

  it('texts that are no array, too many texts, and texts that are not strings, by index', () => {
    expectRefusal(() => parseCompletions(any('SLEEP')), 'wrong_type', 'texts', '"SLEEP"');
    expectRefusal(() => parseCompletions(new Array(2 ** 32 - 1)), 'out_of_range', 'the number of texts');
    expectRefusal(() => parseCompletions(any(['SLEEP', 3])), 'wrong_type', 'texts[1]', '3');
    // biome-ignore lint/suspicious/noSparseArray: the hole is the tested value.
    expectRefusal(() => parseCompletions(any([, 'SLEEP'])), 'wrong_type', 'texts[0]', 'undefined');
  });

  it('unknown options and invalid values of options', () => {
    expectRefusal(() => parseCompletions([], any({ nobelief: 'nan' })), 'unknown_option', 'noBelief');
    expectRefusal(() => parseCompletions([], any({ noBelief: 'NaN' })), 'unknown_name', '"nan"');
    expectRefusal(() => parseCompletions([], any({ noBelief: 0.5 })), 'wrong_type', 'noBelief');
  });
});
