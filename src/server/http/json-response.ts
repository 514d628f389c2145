/** Builds responses. `jsonPieces` and `bytesResponse` stream long ones. */

/** Builds a JSON response from text. */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

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
export const json = (value: unknown, status = 200): Response => jsonText(JSON.stringify(value), status);

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
