/** Tests the functions that read slices of JSON lists as bytes: they agree with `JSON.parse`, or return 0. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countStrings, readWholeNumbers } from '../../src/server/vec/slice-bytes.js';
import { DRAWS, drawsOf } from '../support/random.js';

/** Returns the entries of a slice, or null if it is not valid JSON. */
function entriesOf(slice: string): unknown[] | null {
  try {
    return JSON.parse(`[${slice}]`);
  } catch {
    return null;
  }
}

/** Draws slices: up to five of these entries, joined by some of the separators. */
function slicesOf(entries: readonly string[], separators: readonly string[]): fc.Arbitrary<string> {
  const pair = fc.tuple(fc.constantFrom(...separators), fc.constantFrom(...entries));
  return fc.array(pair, { maxLength: 5 }).map((pairs) => pairs.flat().slice(1).join(''));
}

/** Calls a function with the positions of a slice in a longer text. */
function within<T>(slice: string, call: (json: Buffer, from: number, to: number) => T): T {
  const from = Buffer.from('["first",');
  const bytes = Buffer.from(slice);
  const json = Buffer.concat([from, bytes, Buffer.from(',"last"]')]);
  return call(json, from.length, from.length + bytes.length);
}

it('counts the strings of a slice if all its entries are valid strings', () => {
  const strings = ['"a"', '""', '" \\n"', '"\\u00e9\\uD83D"', '"\u20ac,]"', '"\\\\"', '"\\"\\/\\b\\f\\r\\t"'];
  const others = [
    '"\\x"',
    '"\\u00g0"',
    '"\\u123"',
    '"\\ug000"',
    '"\n"',
    '"\u001f"',
    '"\u007f"',
    '"\\',
    '"',
    '1',
    'null',
  ];
  const separators = [',', ',', ',', ' , ', ',\r\n\t', ' ', '', ',,', '\v,'];
  // Repeats the strings, so that many slices have only strings.
  const slices = slicesOf([...strings, ...strings, ...strings, ...others], separators);
  let counted = 0;
  const property = fc.property(slices, (slice) => {
    const entries = entriesOf(slice);
    const areStrings = entries?.every((entry) => typeof entry === 'string');
    const expected = areStrings ? entries!.length : 0;
    expect(within(slice, countStrings)).toBe(expected);
    counted += Number(expected > 1);
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(20_000) });
  expect(counted).toBeGreaterThan(drawsOf(200));
});

it('reads the numbers of a slice if all its entries are short whole numbers', () => {
  const whole = ['0', '7', '10', '255', '65536', '999999999'];
  const others = ['1000000000', '-1', '.5', '01', '', ' 1', '"1"'];
  // Repeats the whole numbers, so that many slices have only whole numbers.
  const slices = slicesOf([...whole, ...whole, ...others], [',', ',', ',', ',,', ' ,', '']);
  const into = new Uint32Array(16);
  let read = 0;
  const property = fc.property(slices, (slice) => {
    const isWhole = /^(0|[1-9]\d{0,8})(,(0|[1-9]\d{0,8}))*$/.test(slice);
    const count = within(slice, (json, from, to) => readWholeNumbers(json, from, to, into));
    const expected = isWhole ? entriesOf(slice)! : [];
    expect(count).toBe(expected.length);
    expect(Array.from(into.subarray(0, count))).toEqual(expected);
    read += Number(count > 1);
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(20_000) });
  expect(read).toBeGreaterThan(drawsOf(200));
});
