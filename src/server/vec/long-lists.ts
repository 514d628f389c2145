/**
 * Parses JSON with long lists, slice by slice, into compact arrays. `JSON.parse` of the whole text would take up to
 * fourteen bytes of memory for each byte of a long list.
 */
import { randomUUID } from 'node:crypto';
import { BYTE, endOfString, MAX_VALUES } from '../protocol/json-limits.js';
import { type Entries, EntryList, SLICE } from './entry-list.js';

/**
 * The minimum number of entries of a long list. Chosen by hand: shorter lists are parsed to ordinary arrays, which errors can
 * quote but which take more memory.
 */
export const MIN_ENTRIES = 4096;
/** The number of slices of SLICE bytes that are parsed without a pause. Chosen by hand: with more, other work waits longer. */
const SLICES = 32;
/** The number of bytes at each end of a list that errors may quote. Chosen by hand: `JSON.parse` quotes ten characters. */
const QUOTED_BYTES = 64;

/** The number of bytes before a list in which its key is looked for. Chosen by hand: `"beliefs": [` and white space fit. */
const KEY_BYTES = 64;

/** Matches the text before a list of beliefs, which are stored as float32. */
const BELIEFS = /"beliefs"\s*:\s*\[$/;

/** Replaces a long list while the rest of a message is parsed. It is random, so that no message contains it. */
const MARK = randomUUID();

/** The bytes of numbers, true, false, null, white space and commas. */
const PLAIN = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.eEtrufalsn \n\r\t,')) PLAIN[byte] = 1;

/** A list of numbers, strings, true, false and null in JSON. */
export interface LongList {
  /** The positions after the opening bracket, and of the closing bracket. */
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

interface ParsedList {
  readonly start: number;
  /** Where the valid slices end: at the end of the list, or before the first invalid slice. */
  readonly end: number;
  readonly values: EntryList;
}

/** Work in pieces: the generator yields between them, so that other work can run. */
export type Paused<T> = Generator<undefined, T, undefined>;

/** The entries of long lists, by placeholder: the array that replaces the list in a parsed message. */
const entryLists = new WeakMap<object, EntryList>();

/** Finds the long lists of JSON; their entries may be invalid. Stops early if the text has too many lists for a message. */
export function longLists(json: Buffer): LongList[] {
  const found: LongList[] = [];
  for (let at = 0, lists = 0; at < json.length && lists <= MAX_VALUES; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openList) {
      lists++;
      const list = listAt(json, at + 1);
      if (json[list.end] === BYTE.closeList && list.length >= MIN_ENTRIES) found.push(list);
      at = list.end - 1;
    }
  }
  return found;
}

/** Returns the list at a position, up to its first byte that is neither plain nor part of a string. */
function listAt(json: Buffer, start: number): LongList {
  let end = start;
  let length = 1;
  for (; end < json.length; end++) {
    const byte = json[end];
    if (byte === BYTE.comma) length++;
    else if (byte === BYTE.quote) end = endOfString(json, end + 1, json.length);
    else if (PLAIN[byte] === 0) break;
  }
  return { start, end: Math.min(end, json.length), length };
}

/**
 * Parses JSON, with pauses between pieces of work of a few milliseconds. In the result, each long list is an array of the
 * same length without the entries. `entriesOf` returns its entries.
 * @param found the long lists of `json`.
 * @throws SyntaxError as `JSON.parse` of the whole text; `json` is then overwritten.
 */
export function* parseLists(json: Buffer, found: readonly LongList[]): Paused<unknown> {
  if (found.length === 0) return JSON.parse(json.toString());
  const lists: ParsedList[] = [];
  for (const list of found) lists.push(yield* parseList(json, list));
  let message: unknown;
  try {
    message = JSON.parse(withMarks(json, lists));
  } catch {
    let text = json;
    // The last list is first, because blanking may move the bytes after a list.
    for (const list of lists.reverse()) text = yield* blankList(text, list);
    return JSON.parse(text.toString());
  }
  return restoreLists(message, lists);
}

/**
 * Returns the entries of a long list. Returns any other value unchanged, and also a long list of another length than
 * expected, because its length is an error and its entries may need much memory.
 */
export function entriesOf<T>(value: T, length: number): T | Entries {
  const entries = entryLists.get(value as object);
  return entries !== undefined && entries.length === length ? entries.toEntries() : value;
}

/** Returns the entries of a long list as `entriesOf` does, but a list of true and false as u8 flags. */
export function flagsOf<T>(value: T, length: number): T | Entries {
  const entries = entryLists.get(value as object);
  return entries !== undefined && entries.length === length ? entries.toFlags() : value;
}

/** Returns whether a value is a list, long or not, of strings. */
export const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  (entryLists.get(value)?.areStrings() ?? value.every((entry) => typeof entry === 'string'));

function* parseList(json: Buffer, { start, end, length }: LongList): Paused<ParsedList> {
  const before = json.toString('latin1', Math.max(0, start - KEY_BYTES), start);
  const values = new EntryList(length, BELIEFS.test(before) ? Float32Array : Float64Array);
  for (let from = start, slices = 0; from <= end; ) {
    if (++slices % SLICES === 0) yield;
    const to = commaFrom(json, from, from + SLICE, end);
    if (!values.add(json, from, to)) return { start, end: Math.max(start, from - 1), values };
    from = to + 1;
  }
  return { start, end, values };
}

/**
 * Returns the position of the first comma from `min` on that is not in a string; `end` if there is none.
 * @param from a position outside of strings.
 */
function commaFrom(json: Buffer, from: number, min: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, end);
    else if (byte === BYTE.comma && at >= min) return at;
  }
  return end;
}

/** Returns the text with a mark and the list's index in place of the valid entries of each list. */
function withMarks(json: Buffer, lists: readonly ParsedList[]): string {
  let text = '';
  let from = 0;
  for (const [k, { start, end }] of lists.entries()) {
    text += `${json.toString('utf8', from, start)}"${MARK}${k}"`;
    from = end;
  }
  return text + json.toString('utf8', from);
}

/**
 * Replaces the valid entries of a list, except about QUOTED_BYTES at each end, by one entry and spaces. Parsing then takes
 * little memory and gives the same error. @returns the text. Every other character keeps its position in the text, but its
 * byte offset may change.
 */
function* blankList(json: Buffer, { start, end }: ParsedList): Paused<Buffer> {
  yield;
  const first = commaFrom(json, start, start + QUOTED_BYTES, end) + 1;
  const last = end - QUOTED_BYTES;
  let written = first;
  let from = first;
  for (;;) {
    const to = commaFrom(json, from, from + SLICE, last);
    if (to === last) break;
    // Keeps the number of characters and the line ends, because errors state positions.
    const text = json.toString('utf8', from, to + 1);
    for (let k = 0; k < text.length; k++) json[written++] = Math.min(text.charCodeAt(k), 0x20);
    from = to + 1;
  }
  if (from === first) return json;
  // The entry that replaces the valid entries is the digit 0.
  json[first] = 0x30;
  json[written - 1] = BYTE.comma;
  return json.subarray(0, written + json.copy(json, written, from));
}

/**
 * Replaces the marks in a message by arrays. Needs no pauses, because `parseJson` (frame.ts) allows at most about 25,000 other
 * values in a message.
 */
function restoreLists(value: unknown, lists: readonly ParsedList[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const [mark] = value;
    const isList = typeof mark === 'string' && mark.startsWith(MARK);
    if (isList) return placeholder(lists[Number(mark.slice(MARK.length))].values);
  }
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (typeof field === 'object' && field !== null) fields[key] = restoreLists(field, lists);
  }
  return value;
}

/** Returns an array that takes no memory for its entries. Its first entry is a number, so it is not a list of names. */
function placeholder(values: EntryList): number[] {
  const array = [0];
  array[values.length - 1] = 0;
  entryLists.set(array, values);
  return array;
}
