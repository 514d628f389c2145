/** Writes long arrays as JSON, one slice per turn of the event loop. */
import { listText } from '../protocol/number-text.js';

/** The number of values in a slice: less than a millisecond of work. */
export const SLICE = 8192;

type Numbers = Float32Array | Int8Array | Uint8Array | Uint32Array | BigUint64Array;

/**
 * Yields the pieces of a JSON array. Hashes (64 bits) are hexadecimal text, because JSON numbers cannot hold them.
 * @param turn awaited before each slice.
 */
export async function* arrayText(values: Numbers, turn: () => Promise<void>): AsyncGenerator<string> {
  for (let from = 0; from < values.length; from += SLICE) {
    await turn();
    const to = Math.min(from + SLICE, values.length);
    yield (from === 0 ? '[' : ',') + valuesText(values, from, to);
  }
  yield values.length === 0 ? '[]' : ']';
}

/**
 * Joins entries `from` up to `to` (excluded) with commas. The result is one flat string: a string that grows entry by entry
 * takes tens of bytes for each entry until it is sent.
 */
export function valuesText(values: Numbers, from = 0, to = values.length): string {
  if (values instanceof Float32Array) return listText(values, from, to).slice(1, -1);
  if (values instanceof BigUint64Array) return Array.from(values.subarray(from, to), hashText).join();
  return values.subarray(from, to).join();
}

const hashText = (hash: bigint): string => `"${hash.toString(16).padStart(16, '0')}"`;

/** Yields the pieces of a JSON object of arrays, without its braces. */
export async function* columnsText(
  arrays: Readonly<Record<string, Numbers>>,
  turn: () => Promise<void>,
): AsyncGenerator<string> {
  let before = '';
  for (const [name, values] of Object.entries(arrays)) {
    yield `${before}"${name}":`;
    yield* arrayText(values, turn);
    before = ',';
  }
}
