/** Checks limits of JSON on its bytes, before it is parsed. */

/** The most values of a message, or of one row of a batch, including keys. The largest valid row has 28. */
export const MOST_VALUES = 4096;

/** The bytes of JSON syntax. */
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
 * Finds the end of a string in UTF-8. There, no byte of another character equals a quote or a backslash.
 * @param from the index after the opening quote.
 * @returns the index of the closing quote. If it is beyond `end`: `end` or `end + 1`, where the search continues.
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
 * Returns whether JSON has more lists, objects, keys and entries than `MOST_VALUES`. Parsing and validation time grows
 * with their number, and much less with the length of strings and numbers.
 * @param free list entries allowed in addition.
 */
export function hasMoreValues(json: Buffer, free = 0): boolean {
  let values = 0;
  let entries = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openList || byte === BYTE.openObject || byte === BYTE.colon) values++;
    else if (byte === BYTE.comma && ++entries > free) values++;
    if (values > MOST_VALUES) return true;
  }
  return false;
}
