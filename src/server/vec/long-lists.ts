/**
 * Parses JSON with long lists of numbers in slices, each straight into a typed array. As a whole, `JSON.parse` takes up to
 * fourteen bytes for each byte of such a list.
 */
import { randomUUID } from 'node:crypto';
import { BYTE, endOfString } from '../protocol/bounds.js';

/** The fewest entries of a long list: more than an error may repeat. */
const FEWEST = 4096;
/** The most objects around a long list: a message and its data. */
const MOST_OBJECTS = 2;
/** The bytes that are parsed at a time. */
const SLICE = 2 ** 12;
/** The bytes at each end of a list that errors may quote. */
const QUOTED = 64;

/** Stands for a long list while the rest of a message is parsed. Clients cannot know it. */
const MARK = randomUUID();

/** The bytes of numbers, true, false, null, white space and commas. */
const PLAIN = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.eEtrufalsn \n\r\t,')) PLAIN[byte] = 1;

/** Entries that are not numbers; numbers that may not be u32, and u16. */
const LITERALS = /[tfn]/;
const LARGE = /[-.eE]|\d{10}/;
const MEDIUM = /\d{5}/;

type Entry = number | boolean | null;
type Values = Uint16Array | Uint32Array | Float64Array | Entry[];

/** A list of numbers, true, false and null in JSON. */
interface LongList {
  /** The positions after the opening bracket, and of the closing bracket. */
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

interface ParsedList {
  readonly start: number;
  /** Where the list ends, or the comma before its first slice that is not valid. */
  readonly end: number;
  readonly values: Values;
}

/** By the arrays that stand for them in a parsed message. */
const valuesOf = new WeakMap<object, Values>();

/**
 * Parses JSON. An array with the same length, but without the entries, stands for each long list of the message and of
 * its data: `numbersOf` returns the entries.
 * @throws SyntaxError as `JSON.parse` of the whole text; `json` is then overwritten.
 */
export function parseLists(json: Buffer): unknown {
  const lists = longLists(json).map((list) => parseList(json, list));
  if (lists.length === 0) return JSON.parse(json.toString());
  let message: unknown;
  try {
    message = JSON.parse(withMarks(json, lists));
  } catch {
    for (const list of lists) blank(json, list);
    return JSON.parse(json.toString());
  }
  return restored(message, lists, MOST_OBJECTS);
}

/** Returns the entries of a long list. Another value passes as it is. */
export const numbersOf = <T>(value: T): T | ArrayLike<number> =>
  (valuesOf.get(value as object) as ArrayLike<number> | undefined) ?? value;

/** Finds the long lists; their entries may be invalid. */
function longLists(json: Buffer): LongList[] {
  const found: LongList[] = [];
  let [objects, lists] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openObject) objects++;
    else if (byte === BYTE.closeObject) objects--;
    else if (byte === BYTE.closeList) lists--;
    else if (byte === BYTE.openList) {
      const list = listAt(json, at + 1);
      const isLong = json[list.end] === BYTE.closeList && list.length >= FEWEST;
      if (isLong && objects <= MOST_OBJECTS && lists === 0) found.push(list);
      lists++;
      at = list.end - 1;
    }
  }
  return found;
}

/** Returns a list up to its first byte that is not plain. */
function listAt(json: Buffer, start: number): LongList {
  let end = start;
  let length = 1;
  for (; end < json.length && PLAIN[json[end]] === 1; end++) if (json[end] === BYTE.comma) length++;
  return { start, end, length };
}

function parseList(json: Buffer, { start, end, length }: LongList): ParsedList {
  let values: Values = new Uint16Array(length);
  for (let from = start, count = 0; from <= end; ) {
    const comma = json.indexOf(BYTE.comma, from + SLICE);
    const to = comma < 0 || comma > end ? end : comma;
    const text = json.toString('latin1', from, to);
    const entries = entriesOf(text);
    if (entries === null) return { start, end: Math.max(start, from - 1), values };
    values = withRoomFor(text, values, count);
    if (!Array.isArray(values)) values.set(entries as number[], count);
    else for (let k = 0; k < entries.length; k++) values[count + k] = entries[k];
    count += entries.length;
    from = to + 1;
  }
  return { start, end, values };
}

function entriesOf(text: string): Entry[] | null {
  try {
    const entries: Entry[] = JSON.parse(`[${text}]`);
    return entries.length === 0 ? null : entries;
  } catch {
    return null;
  }
}

/**
 * Returns the first `count` values, in a larger type if that of the array cannot hold the entries of `text` exactly.
 */
function withRoomFor(text: string, values: Values, count: number): Values {
  if (Array.isArray(values)) return values;
  if (!LITERALS.test(text)) {
    const Kind = LARGE.test(text) ? Float64Array : MEDIUM.test(text) ? Uint32Array : Uint16Array;
    return Kind.BYTES_PER_ELEMENT > values.BYTES_PER_ELEMENT ? new Kind(values) : values;
  }
  const entries: Entry[] = new Array(values.length);
  for (let k = 0; k < count; k++) entries[k] = values[k];
  return entries;
}

/** Returns the text with the number of each list in the place of its valid entries. */
function withMarks(json: Buffer, lists: readonly ParsedList[]): string {
  let text = '';
  let from = 0;
  for (const [k, { start, end }] of lists.entries()) {
    text += `${json.toString('utf8', from, start)}"${MARK}${k}"`;
    from = end;
  }
  return text + json.toString('utf8', from);
}

/** Overwrites a list with spaces and one entry, so that it is parsed in little memory and errors stay the same. */
function blank(json: Buffer, { start, end }: ParsedList): void {
  if (end - start < 2 * QUOTED) return;
  const first = json.indexOf(BYTE.comma, start + QUOTED) + 1;
  const last = json.lastIndexOf(BYTE.comma, end - QUOTED);
  if (first === 0 || first >= last) return;
  // Errors count lines.
  for (let at = first; at < last; at++) if (json[at] > 0x20) json[at] = 0x20;
  json[first] = 0x30;
}

/** Puts arrays in the places of lists. @param depth of objects that may have lists. */
function restored(value: unknown, lists: readonly ParsedList[], depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const [mark] = value;
    const isList = typeof mark === 'string' && mark.startsWith(MARK);
    return isList ? standIn(lists[Number(mark.slice(MARK.length))].values) : value;
  }
  const fields = value as Record<string, unknown>;
  if (depth > 0) for (const key of Object.keys(fields)) fields[key] = restored(fields[key], lists, depth - 1);
  return value;
}

/** An array without memory for its entries. Its first entry is not a name. */
function standIn(values: Values): number[] {
  const array = [0];
  array[values.length - 1] = 0;
  valuesOf.set(array, values);
  return array;
}
