/** Counts the values of JSON before it is parsed, to limit the time that parsing takes. */

/**
 * The maximum number of values, including keys, of a message, of each row's entry in a column (a field with one entry per row),
 * and of any other field of a request. Chosen by hand: the largest valid entry of a row, 28 beliefs (a list of three numbers
 * each), has 112 values, and more values take longer to parse.
 */
export const MAX_VALUES = 4096;

/** The punctuation of JSON, as bytes. */
export const BYTE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/**
 * Finds the end of a JSON string in UTF-8, where no other character contains the byte of a quote or backslash.
 * @param from the index after the opening quote.
 * @returns the index of the closing quote. If none is before `end`, the index at which to continue once more bytes have
 *   arrived: `end`, or `end + 1` if a backslash just before `end` escapes the next byte.
 */
export function endOfString(bytes: Buffer, from: number, end: number): number {
  let at = from;
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === BYTE.quote) break;
    if (byte === BYTE.backslash) at++;
  }
  return at;
}

/**
 * The list entries that do not count as values, called free entries: in messages of /v1/vec, five for each environment (an
 * action, three of a belief, one of a mask).
 */
export interface FreeEntries {
  /** The maximum number of free entries. */
  readonly max: number;
  /** The maximum number of free entries outside of `lists`. */
  readonly maxElsewhere: number;
  /**
   * Lists without nested values. `start` is the index after the opening bracket, `end` the index of the closing bracket, and
   * `length` the number of entries.
   */
  readonly lists: readonly { readonly start: number; readonly end: number; readonly length: number }[];
}

const NO_FREE_ENTRIES: FreeEntries = { max: 0, maxElsewhere: 0, lists: [] };

/**
 * Returns whether JSON has more lists, objects, keys and entries than `MAX_VALUES`, without the free entries. By default no
 * entry is free. The time of parsing and validation depends mainly on the number of values, and little on the length of strings
 * and numbers.
 */
export function hasTooManyValues(json: Buffer, { max, maxElsewhere, lists } = NO_FREE_ENTRIES): boolean {
  // Entries are counted by their commas: a list of n entries has n - 1.
  const listed = lists.reduce((sum, { length }) => sum + length - 1, 0);
  const freeElsewhere = Math.min(max - listed, maxElsewhere);
  // At most `max` entries of `lists` are free; the others count as values.
  let values = Math.max(listed - max, 0);
  let [elsewhere, nextList] = [0, 0];
  for (let at = 0; at < json.length && values <= MAX_VALUES; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openList || byte === BYTE.openObject || byte === BYTE.colon) values++;
    else if (byte === BYTE.comma && ++elsewhere > freeElsewhere) values++;
    // Skips the entries of `lists`, which `listed` counts.
    if (at + 1 === lists[nextList]?.start) at = lists[nextList++].end - 1;
  }
  return values > MAX_VALUES;
}
