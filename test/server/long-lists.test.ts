/**
 * Long lists in the text of a message give the values and errors of `JSON.parse`, bit for bit, with two exceptions: lists of
 * beliefs are rounded to float32, and from the 65th different string of a list on, every string is replaced.
 */
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { entriesOf, flagsOf, longLists, parseLists } from '../../src/server/vec/long-lists.js';
import { anyText, DRAWS, drawsOf } from '../support/random.js';

/** The length of the long lists: more than the 4,096 entries from which on a list is long. */
const LONG = 5000;
/** JSON numbers of any length, the limits of float32, and numbers as `JSON.stringify` writes them. */
const numbers = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,40})?([eE][+-]?(\d\d?|[1-3]\d\d))?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -1, max: 2 ** 32 }).map(String),
  fc.constantFrom('-0', '0', '-0.0', '-0e5', '1e-45', '1.401298464324817e-45', '7e-46', '1e999', '-1e999'),
  fc.constantFrom('9007199254740993e-3', '9007199254740991', '9007199254740992', '9007199254740993'),
  // The float64 of each lies halfway between two float32s. The first two decimals do not: rounded directly to float32, they
  // would give other results.
  fc.constantFrom(
    '1.00000005960464477540',
    '1.00000017881393432616',
    '340282356779733661637539395458142568448',
  ),
);
const spaces = fc.constantFrom('', '', ' ', '\n', '\r\n\t');

/** Repeats entries until the list is long. */
const long = (entries: readonly string[]): string[] =>
  Array.from({ length: LONG }, (_, k) => entries[k % entries.length]);
const messageOf = (entries: readonly string[], key = 'seed'): string =>
  `{"type":"step","data":{"${key}":[${long(entries).join()}],"mask":[1]}}`;

interface Parsed {
  readonly data: Record<string, ArrayLike<number>>;
}

/** Parses a message and reads the lists of its data. @returns the message; for invalid JSON, the text of the error. */
function parsed(text: string): Parsed {
  const message = resultOrError(() => parseAll(text)) as Parsed;
  for (const key in message.data) message.data[key] = entries(message.data[key]);
  return message;
}

const entries = (list: ArrayLike<number>): ArrayLike<number> =>
  entriesOf(list, list.length) as ArrayLike<number>;

/** Parses without a pause. */
function parseAll(text: string): unknown {
  const json = Buffer.from(text);
  const parsing = parseLists(json, longLists(json));
  for (;;) {
    const { done, value } = parsing.next();
    if (done) return value;
  }
}

function resultOrError(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const bytesOf = ({ buffer }: Float32Array | Float64Array): Buffer => Buffer.from(buffer);

it('reads every number as JSON.parse and Math.fround do', () => {
  const entry = fc.tuple(spaces, numbers, spaces).map((parts) => parts.join(''));
  const property = fc.property(fc.array(entry, { minLength: 1, maxLength: 40 }), (entries) => {
    const text = messageOf(entries);
    const exact: number[] = JSON.parse(text).data.seed;
    const { seed } = parsed(text).data;
    expect(seed).not.toBeInstanceOf(Array);
    expect(bytesOf(Float64Array.from(seed))).toEqual(bytesOf(Float64Array.from(exact)));
    const { beliefs } = parsed(messageOf(entries, 'beliefs')).data;
    expect(bytesOf(Float32Array.from(beliefs))).toEqual(bytesOf(Float32Array.from(exact, Math.fround)));
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(1000) });
});

it('reads whole numbers of at most nine digits into the smallest unsigned type, and longer ones and -0 into float64', () => {
  for (const [entries, Kind] of [
    [['0', '255'], Uint8Array],
    [['0', ' 256'], Uint16Array],
    [['0', '9999'], Uint16Array],
    [['0', '999999999'], Uint32Array],
    [['0', '4294967295'], Float64Array],
    // Only the last entry needs the larger type.
    [[...Array(LONG - 1).fill('1'), '65536'], Uint32Array],
    [[...Array(LONG - 1).fill('1'), '-0'], Float64Array],
  ] as const) {
    const numbers = Float64Array.from(long(entries), Number);
    expect(parsed(messageOf(entries)).data.seed).toEqual(new Kind(numbers));
  }
});

const texts = fc.oneof(
  fc.constantFrom('"v1"', '""', '"\\u0076\\u0031"', '","', '"]"', '"\\""', '"\\\\"', '"\u20ac\ud83d\ude00"'),
  anyText(20).map((text) => JSON.stringify(text)),
);

it('reads strings, true, false and null among numbers as JSON.parse does', () => {
  const entry = fc.tuple(
    spaces,
    fc.oneof(numbers, texts, fc.constantFrom('true', 'false', 'null', '-0', '0')),
    spaces,
  );
  const property = fc.property(fc.array(entry, { minLength: 1, maxLength: 40 }), (entries) => {
    const text = messageOf(entries.map((parts) => parts.join('')));
    const expected: unknown[] = JSON.parse(text).data.seed;
    const result = Array.from(parsed(text).data.seed as ArrayLike<unknown>);
    expect(result).toHaveLength(LONG);
    expect(result.findIndex((each, k) => !Object.is(each, expected[k]))).toBe(-1);
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(500) });
});

it('reads a list with more different entries than the table of entry-list.ts holds', () => {
  const others = ['null', '"v1"', '-0', 'true'];
  const list = Array.from({ length: 3 * LONG }, (_, k) => others[k % 7] ?? String(k));
  const result = parsed(`{"data":{"x":[${list}]}}`).data.x;
  expect(result).toEqual(list.map((text) => JSON.parse(text)));
});

it('keeps the first 64 different strings, and replaces all later strings', () => {
  const names = Array.from({ length: 2 * LONG }, (_, k) => `name ${k}${k % 700 === 699 ? '\\' : ''}`);
  const { x } = parsed(JSON.stringify({ data: { x: names } })).data as unknown as { x: string[] };
  expect([x.length, x.slice(0, 64)]).toEqual([2 * LONG, names.slice(0, 64)]);
  expect(new Set(x.slice(64))).toEqual(new Set(['(another string)']));
  const exactly64 = names.map((_, k) => `name ${k % 64}`);
  expect(parsed(JSON.stringify({ data: { x: exactly64 } })).data.x).toEqual(exactly64);
  // A string with a line end is invalid.
  const invalid = `[${names.map((name) => JSON.stringify(name))},"\n"]`;
  expect(parsed(invalid)).toBe(resultOrError(() => JSON.parse(invalid)));
});

it.each(['"a,b"', '"\\",["', '1', ' null '])(
  'gives the error of an invalid entry after many entries %s',
  (entry) => {
    for (const last of ['x', '01', '"a\n"', '"a', '']) {
      const text = `{"data":{"x":[${long([entry])},${last}]}}`;
      expect(parsed(text)).toBe(resultOrError(() => JSON.parse(text)));
    }
  },
);

const ones = long(['1']);
const longEntry = `"${'b'.repeat(5000)}"`;
it.each([
  ['after a list that ends with a long entry', `[${ones},"${'b'.repeat(100)}"],y`],
  ['after a list that is not ASCII and another list', `[${long(['"\u20ac"'])}],"y":[${ones},${ones}],y`],
  ['after a list with a long entry', `["a",${longEntry},${ones},x]`],
  ...Array.from({ length: 24 }, (_, k) => {
    // Near entry 2,048, where the first slice ends: a slice has 4,096 bytes, and an entry with its comma has two.
    const before = 2036 + k;
    return [`at entry ${before} of a list`, `[${ones.slice(0, before)},x,${ones}]`];
  }),
])('gives the error of invalid text %s', (_, invalid) => {
  const text = `{"data":{"x":${invalid}}}`;
  expect(parsed(text)).toBe(resultOrError(() => JSON.parse(text)));
});

it('parses the text again with spaces in place of most entries, to get the error of an invalid entry', () => {
  const text = `{"data":{"x":[${long(['1234567'])},01]}}`;
  using parse = vi.spyOn(JSON, 'parse');
  parsed(text);
  const [again] = parse.mock.lastCall as [string];
  expect(again).toHaveLength(text.length);
  expect(again.replaceAll(' ', '').length).toBeLessThan(text.length / 4);
});

/** Returns what the list has for an entry that follows 64 different strings. */
const replaced = (entry: unknown): unknown => (typeof entry === 'string' ? '(another string)' : entry);

it('accepts and refuses the same strings as JSON.parse after the first 64', () => {
  const names = Array.from({ length: LONG }, (_, k) => JSON.stringify(`name ${k}`));
  const piece = fc.oneof(
    fc.constantFrom('a', ',', ' ', '\u007f', '\u20ac', '\ud83d\ude00', '\ufffd', '/', ']', '1', 'null', '-0'),
    fc.constantFrom('"', '\\', '\t', '\n', '\u0000', '\u001f', 'u', 'u12aF', '\\u12aF', '\\u12a', '\\u12ag'),
    fc.constantFrom(
      ...Array.from('"\\/bfnrtx0', (character) => `\\${character}`),
      '", "',
      '" \n"',
      '"\r\t,"',
    ),
  );
  const counts = { valid: 0, invalid: 0 };
  const pieces = fc.array(piece, { maxLength: 5 }).map((list) => list.join(''));
  const property = fc.property(pieces, spaces, spaces, (string, before, after) => {
    const entries = [...names];
    entries[LONG - 200] = `${before}"${string}"${after}`;
    const text = `{"data":{"x":[${entries}]}}`;
    const expected = resultOrError(() => JSON.parse(text)) as { data: { x: unknown[] } } | string;
    const result = parsed(text);
    counts[typeof expected === 'string' ? 'invalid' : 'valid']++;
    if (typeof expected === 'string') expect(result).toBe(expected);
    else expect(result.data.x).toEqual(expected.data.x.map((value, k) => (k < 64 ? value : replaced(value))));
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(1500) });
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(drawsOf(200));
});

it('rounds beliefs to float32 if their list has only numbers, and rounds no other lists', () => {
  const dataOf = (text: string) => parsed(text.replaceAll('0.1', long(['0.1', '4294967295']).join())).data;
  expect(dataOf('{"data":{"beliefs": \n[0.1]}}').beliefs).toBeInstanceOf(Float32Array);
  expect(dataOf('{"data":{"beliefs":["",0.1]}}').beliefs[1]).toBe(0.1);
  expect(dataOf('{"data":{"more beliefs":[0.1]}}')['more beliefs']).toBeInstanceOf(Float64Array);
});

it('reads a list of true and false as u8 flags', () => {
  const listOf = (entries: string[]) => (parseAll(messageOf(entries)) as Parsed).data.seed;
  expect(flagsOf(listOf(['true', 'false', 'false']), LONG)).toEqual(
    Uint8Array.from({ length: LONG }, (_, k) => Number(k % 3 === 0)),
  );
  expect(flagsOf(listOf(['true', 'null']), LONG)).toEqual(
    Array.from({ length: LONG }, (_, k) => (k % 2 === 0 ? true : null)),
  );
  expect(flagsOf(listOf(['2', '0']), LONG)).toBeInstanceOf(Uint8Array);
});

it('does not read the entries of a list of another length than expected', () => {
  const { data } = parseAll(messageOf(['"x"'])) as { data: { seed: number[] } };
  const list = entriesOf(data.seed, LONG - 1) as number[];
  // The parsed message has an array in place of the list; only its first and its last entry exist.
  expect([list.length, Object.keys(list).length]).toEqual([LONG, 2]);
  expect(entriesOf(data.seed, LONG)).toEqual(Array(LONG).fill('x'));
});

const LISTS = `{"type":"step","data":{"actions":[${long(['1', ' 2'])}],"seed":[${long(['0.5', '12', '-1e-7'])}],"more":{"a":[1]},"names":[${long(['"v1"', '"a,]\u20ac"', ' "\ud83d\ude00"', 'null'])}]}}`;
const INSERTIONS = [...',][}"0-.ex\n\\\u20ac', '', '1 ', 'null', '[1,2]', '"x"'];

it('gives the errors of JSON.parse for invalid text, and the same values for valid text', () => {
  const start = LISTS.indexOf('"seed"');
  const at = fc.oneof(
    fc.nat(LISTS.length - 1),
    fc.nat(150),
    fc.nat(300).map((by) => start - 150 + by),
    fc.nat(300).map((by) => LISTS.indexOf('"names"') - 150 + by),
    fc.nat(150).map((back) => LISTS.length - 1 - back),
  );
  const property = fc.property(at, fc.constantFrom(...INSERTIONS), fc.nat(2), (from, insertion, cut) => {
    const text = LISTS.slice(0, from) + insertion + LISTS.slice(from + cut);
    // Half of a surrogate pair becomes the replacement character in UTF-8.
    const expected = resultOrError(() => JSON.parse(Buffer.from(text).toString()));
    const result = parsed(text);
    if (typeof expected === 'string') expect(result).toBe(expected);
    else expect(JSON.stringify(result, plain)).toBe(JSON.stringify(expected));
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(3000) });
});

/** A replacer for JSON.stringify that writes long lists and typed arrays as lists. */
function plain(_: string, value: unknown): unknown {
  const list = Array.isArray(value) ? entries(value) : value;
  return ArrayBuffer.isView(list) ? Array.from(list as never) : list;
}

it.each([
  ['in a list', (list: string) => `[[${list}]]`],
  ['as a key', (list: string) => `{"data":{[${list}]:1}}`],
  ['twice', (list: string) => `{"data":{"mask":[${list}],"mask":[1]},"data":{"mask":[true,${list}]}}`],
  ['under the key __proto__', (list: string) => `{"data":{"__proto__":[${list}]}}`],
  ['in short lists', (list: string) => `{"data":{"mask":[1,[${list}],[2,[${list}]]]}}`],
  ['in objects within the data', (list: string) => `{"data":{"a":{"b":[${list}]}}}`],
  [
    'beside text that is not ASCII',
    (list: string) => `{"data":{"\u20ac":"\ud83d\ude00","mask":[${list}],"\u20ac2":2}}`,
  ],
])('parses a long list %s as JSON.parse does', (_, textOf) => {
  const text = textOf(long(['7', '0.5']).join());
  expect(JSON.stringify(parsed(text), plain)).toBe(JSON.stringify(resultOrError(() => JSON.parse(text))));
});
