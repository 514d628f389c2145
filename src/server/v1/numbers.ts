/** Long arrays as JSON, a slice at a time. */
import { numbersText } from '../protocol/numbers.js';

/** Numbers that are written between two turns: less than a millisecond's. */
const SLICE = 8192;

type Numbers = ArrayLike<number> | BigUint64Array;

/** Pieces of a JSON array; hashes are hexadecimal text, since no JSON number holds them. */
export async function* arrayText(values: Numbers, turn: () => Promise<void>): AsyncGenerator<string> {
  const write = values instanceof BigUint64Array ? hashesText : numbersText;
  for (let from = 0; from < values.length; from += SLICE) {
    await turn();
    const to = Math.min(from + SLICE, values.length);
    yield (from === 0 ? '[' : ',') + write(values as never, from, to);
  }
  yield values.length === 0 ? '[]' : ']';
}

/** A JSON array of objects. */
export async function objectsText(values: readonly object[], turn: () => Promise<void>): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < values.length; from += SLICE / 4) {
    await turn();
    parts.push(JSON.stringify(values.slice(from, from + SLICE / 4)).slice(1, -1));
  }
  return `[${parts.join()}]`;
}

function hashesText(values: BigUint64Array, from: number, to: number): string {
  const texts: string[] = [];
  for (let at = from; at < to; at++) texts.push(`"${values[at].toString(16).padStart(16, '0')}"`);
  return texts.join();
}

/** A JSON object of arrays by name. */
export async function objectText(
  arrays: Readonly<Record<string, Numbers>>,
  turn: () => Promise<void>,
): Promise<string> {
  const parts: string[] = [];
  for (const [name, values] of Object.entries(arrays)) {
    parts.push(`${parts.length === 0 ? '' : ','}"${name}":`);
    for await (const piece of arrayText(values, turn)) parts.push(piece);
  }
  return `{${parts.join('')}}`;
}
