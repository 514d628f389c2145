/** The type of a route: its handler and its description for openapi.json. */
import type { z } from 'zod';
import type { HttpRequest } from './request.js';

export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** Schema of the body, if the route reads one. */
  readonly request?: z.ZodType;
  /** Whether the body is one message of OpenEnv, limited like a session's frame and not like a batch. */
  readonly message?: boolean;
  /** Schema of the JSON answer, or the media type of another answer. */
  readonly response: z.ZodType | string;
  /** Meanings of other statuses than 200 and 422. */
  readonly failures?: Readonly<Record<number, string>>;
  handle(request: HttpRequest): Response | Promise<Response>;
}

/** Builds a JSON response from text. */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

/** The minimum number of characters of a piece that is sent. */
const MIN_PIECE = 2 ** 16;

/**
 * Builds a JSON response that is streamed, or sent at once if it is short.
 * @param pieces the next one is requested once the client has read enough.
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

/** Joins pieces until they have MIN_PIECE characters. */
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

export const json = (value: unknown, status = 200): Response => jsonText(JSON.stringify(value), status);
