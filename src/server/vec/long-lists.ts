/**
 * Parses JSON with long lists in slices, each straight into a small array. As a whole, `JSON.parse` takes up to fourteen
 * bytes for each byte of such a list.
 */
import { randomUUID } from 'node:crypto';
import { BYTE, endOfString, MOST_VALUES } from '../protocol/bounds.js';
import { type Entries, EntryList, SLICE } from './entry-list.js';

/** The fewest entries of a long list: more than an error may repeat. */
export const FEWEST = 4096;
/** The slices that are parsed without a pause. */
const SLICES = 32;
/** The bytes at each end of a list that errors may quote. */
const QUOTED = 64;

/** Before a list of beliefs, which environments round to float32. */
const BELIEFS = /"beliefs"\s*:\s*\[$/;

/** Stands for a long list while the rest of a message is parsed. Clients cannot know it. */
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
  /** Where the list ends, or the comma before its first slice that is not valid. */
  readonly end: number;
  readonly values: EntryList;
}

/** Work that pauses now and then, so that others can work. */
export type Paused<T> = Generator<undefined, T, undefined>;

/** By the arrays that stand for them in a parsed message. */
const valuesOf = new WeakMap<object, EntryList>();

/** Finds the long lists of JSON; their entries may be invalid. Ends early in a text of more lists than a message has. */
export function longLists(json: Buffer): LongList[] {
  const found: LongList[] = [];
  for (let at = 0, lists = 0; at < json.length && lists <= MOST_VALUES; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openList) {
      lists++;
      const list = listAt(json, at + 1);
      if (json[list.end] === BYTE.closeList && list.length >= FEWEST) found.push(list);
      at = list.end - 1;
    }
  }
  return found;
}

/** Returns a list up to its first byte that is neither plain nor of a string. */
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
 * Parses JSON, and pauses after pieces of work of a few milliseconds. An array with the same length, but without the
 * entries, stands for each long list: `entriesOf` returns the entries.
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
    // From the last on, because the text moves.
    for (const list of lists.reverse()) text = yield* blank(text, list);
    return JSON.parse(text.toString());
  }
  return restored(message, lists);
}

/**
 * Returns the entries of a long list. Another value passes as it is, and so does a long list of another length than
 * expected: its length is a fault, and its entries may need much memory.
 */
export function entriesOf<T>(value: T, length: number): T | Entries {
  const entries = valuesOf.get(value as object);
  return entries !== undefined && entries.length === length ? entries.toEntries() : value;
}

/** Returns the entries of a long list as `entriesOf` does, those of a mask as bytes. */
export function flagsOf<T>(value: T, length: number): T | Entries {
  const entries = valuesOf.get(value as object);
  return entries !== undefined && entries.length === length ? entries.toFlags() : value;
}

/** Returns whether a value is a list, long or not, of strings. */
export const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  (valuesOf.get(value)?.areStrings() ?? value.every((entry) => typeof entry === 'string'));

function* parseList(json: Buffer, { start, end, length }: LongList): Paused<ParsedList> {
  const before = json.toString('latin1', Math.max(0, start - QUOTED), start);
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
 * Returns the position of the first comma that is not in a string, from `least` on; `end` if there is none.
 * @param from a position outside of strings.
 */
function commaFrom(json: Buffer, from: number, least: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, end);
    else if (byte === BYTE.comma && at >= least) return at;
  }
  return end;
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

/**
 * Overwrites the valid entries of a list with spaces and one entry, so that it is parsed in little memory and errors
 * stay the same. @returns the text, in which every character that follows has kept its position.
 */
function* blank(json: Buffer, { start, end }: ParsedList): Paused<Buffer> {
  yield;
  const first = commaFrom(json, start, start + QUOTED, end) + 1;
  if (first >= end - QUOTED) return json;
  let written = first;
  let from = first;
  while (from < end - QUOTED) {
    const to = commaFrom(json, from, Math.min(from + SLICE, end - QUOTED), end);
    if (to === end) break;
    // Errors count characters and lines.
    const text = json.toString('utf8', from, to + 1);
    for (let k = 0; k < text.length; k++) json[written++] = Math.min(text.charCodeAt(k), 0x20);
    from = to + 1;
  }
  if (from === first) return json;
  json[first] = 0x30;
  json[written - 1] = BYTE.comma;
  return json.subarray(0, written + json.copy(json, written, from));
}

/** Puts arrays in the places of lists. The message has at most some thousand values beside them. */
function restored(value: unknown, lists: readonly ParsedList[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const [mark] = value;
    const isList = typeof mark === 'string' && mark.startsWith(MARK);
    if (isList) return standIn(lists[Number(mark.slice(MARK.length))].values);
  }
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (typeof field === 'object' && field !== null) fields[key] = restored(field, lists);
  }
  return value;
}

/** An array without memory for its entries. Its first entry is not a name. */
function standIn(values: EntryList): number[] {
  const array = [0];
  array[values.length - 1] = 0;
  valuesOf.set(array, values);
  return array;
}
