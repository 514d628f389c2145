/** Writes long arrays as JSON, in slices. */
import { numbersText } from '../protocol/number-text.js';

/** The number of values written per turn of the event loop, in less than a millisecond. */
export const SLICE = 8192;

type Numbers = ArrayLike<number> | BigUint64Array;

/** Yields the pieces of a JSON array. Hashes are hexadecimal text, because JSON numbers cannot hold them. */
export async function* arrayText(values: Numbers, turn: () => Promise<void>): AsyncGenerator<string> {
  for (let from = 0; from < values.length; from += SLICE) {
    await turn();
    const to = Math.min(from + SLICE, values.length);
    yield (from === 0 ? '[' : ',') + valuesText(values, from, to);
  }
  yield values.length === 0 ? '[]' : ']';
}

/** Joins entries `from` up to `to` (excluded) with commas. */
export const valuesText = (values: Numbers, from = 0, to = values.length): string =>
  values instanceof BigUint64Array ? hashesText(values, from, to) : numbersText(values, from, to);

function hashesText(values: BigUint64Array, from: number, to: number): string {
  const texts: string[] = [];
  for (let at = from; at < to; at++) texts.push(`"${values[at].toString(16).padStart(16, '0')}"`);
  return texts.join();
}

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
