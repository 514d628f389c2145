/** Builds responses, and writes long ones in pieces: `jsonPieces` and `bytesResponse` stream them. */
import { float32Decimal, float32Decimals } from '../../shared/float32-decimal.js';

/** Builds a JSON response from text. */
export const jsonText = (text: string, status = 200, headers = {}): Response =>
  new Response(text, { status, headers: { ...headers, 'content-type': 'application/json' } });

/**
 * The minimum number of characters of a streamed piece, except the last. Chosen by hand: smaller pieces take more time in
 * total, larger ones more memory. `bytesResponse` streams a body of more than 2 * MIN_PIECE bytes.
 */
const MIN_PIECE = 2 ** 16;

/**
 * Builds a JSON response that is streamed, or sent at once if it is short.
 * @param pieces of the text. While it is streamed, pieces are requested as the client reads.
 */
export async function jsonPieces(pieces: AsyncIterable<string> | Iterable<string>): Promise<Response> {
  const joined = joinedPieces(pieces);
  const first = await joined.next();
  const second = first.done ? first : await joined.next();
  if (second.done) return jsonText(first.value ?? '');
  const encoder = new TextEncoder();
  const bytes = (async function* () {
    yield encoder.encode(first.value);
    yield encoder.encode(second.value);
    for await (const piece of joined) yield encoder.encode(piece);
  })();
  return new Response(ReadableStream.from(bytes), { headers: { 'content-type': 'application/json' } });
}

/** Joins pieces until they have at least MIN_PIECE characters. */
async function* joinedPieces(
  pieces: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, undefined> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < MIN_PIECE) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Builds a JSON response from a value. */
export const json = (value: unknown, status?: number, headers?: object): Response =>
  jsonText(JSON.stringify(value), status, headers);

/** Bytes whose total length is known. */
export interface KnownBytes {
  readonly length: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Builds a response of bytes that is streamed, or sent at once if it is short. While it is streamed, pieces are requested as
 * the client reads.
 */
export async function bytesResponse({ length, pieces }: KnownBytes): Promise<Response> {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(length) };
  if (length > 2 * MIN_PIECE) return new Response(ReadableStream.from(pieces), { headers });
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return new Response(Buffer.concat(all), { headers });
}

/** The maximum number of entries in a piece of a list: less than a millisecond of work for numbers. */
export const SLICE = 8192;

/** A list of an answer whose text is written in pieces. */
export class List {
  readonly length: number;
  /** Returns entries `from` up to `to` (excluded), joined with commas. */
  readonly textOf: (from: number, to: number) => string;

  constructor(length: number, textOf: (from: number, to: number) => string) {
    this.length = length;
    this.textOf = textOf;
  }

  /**
   * Yields the pieces of the text, of at most SLICE entries. @param before the text before the list.
   * @param turn awaited before each piece.
   */
  async *pieces(before: string, turn: () => Promise<void>): AsyncGenerator<string> {
    if (this.length === 0) yield `${before}[]`;
    for (let from = 0; from < this.length; from += SLICE) {
      await turn();
      const to = Math.min(from + SLICE, this.length);
      const [start, end] = [from === 0 ? `${before}[` : ',', to === this.length ? ']' : ''];
      yield start + this.textOf(from, to) + end;
    }
  }
}

/** Returns the list of an array. Hashes (64 bits) are hexadecimal text, because JSON numbers cannot hold them. */
export const listOf = (values: Numbers): List =>
  new List(values.length, (from, to) => valuesText(values, from, to));

type Numbers = Float32Array | Int8Array | Uint8Array | Uint32Array | BigUint64Array;

/** An answer: its Lists, and objects with Lists, are written in pieces. Texts of an iterable are written as they come. */
export interface Fields {
  readonly [name: string]: unknown;
}

/** Yields the pieces of a JSON object, without undefined fields. @param turn awaited before each piece of a list. */
export async function* objectPieces(fields: Fields, turn: () => Promise<void>): AsyncGenerator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const key = `${before}"${name}":`;
    before = ',';
    if (value instanceof List) {
      yield* value.pieces(key, turn);
    } else if (isPieces(value)) {
      yield key;
      yield* value;
    } else if (isFields(value)) {
      yield key;
      yield* objectPieces(value, turn);
    } else yield key + JSON.stringify(value);
  }
  yield before === '{' ? '{}' : '}';
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPieces = (value: unknown): value is AsyncIterable<string> =>
  isFields(value) && Symbol.asyncIterator in value;

/** Joins entries. The result is one flat string: one that grows entry by entry takes tens of bytes for each entry. */
function valuesText(values: Numbers, from: number, to: number): string {
  if (values instanceof Float32Array) return listText(values, from, to).slice(1, -1);
  if (values instanceof BigUint64Array) return Array.from(values.subarray(from, to), hashText).join();
  return values.subarray(from, to).join();
}

const hashText = (hash: bigint): string => `"${hash.toString(16).padStart(16, '0')}"`;

/**
 * Formats a float32 as JSON text. -0 becomes -0.0: `JSON.stringify` would print 0, and some parsers read -0 as the integer 0.
 * @returns 'null' for NaN and infinities, which JSON lacks.
 */
export const numberText = (value: number): string => decimalText(float32Decimal(value));

function decimalText(decimal: number): string {
  if (!Number.isFinite(decimal)) return 'null';
  return isNegativeZero(decimal) ? '-0.0' : String(decimal);
}

/** Formats entries `from` up to `to` (excluded) as a JSON array. */
export function listText(values: Float32Array, from = 0, to = values.length): string {
  const decimals = float32Decimals(values.subarray(from, to));
  // JSON.stringify is faster, but drops the sign of zero.
  return decimals.some(isNegativeZero) ? `[${decimals.map(decimalText).join()}]` : JSON.stringify(decimals);
}

const isNegativeZero = (value: number): boolean => Object.is(value, -0);
