/** Answers that come to an end: an endpoint that never stops, or packs much into little, fills no memory. */

/** Twice the thoughts and words of 131,072 tokens. A week of such answers is a line that every command reads. */
export const MAX_BODY_BYTES = 2 ** 20;

/** As `fetch`. A body that turns out longer, unpacked, is given up: reading it fails, and its connection is closed. */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  return new Response(response.body.pipeThrough(bounded()), response);
}

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) {
        throw new RangeError(`Expected at most ${MAX_BODY_BYTES} bytes of an answer, got more`);
      }
      controller.enqueue(chunk);
    },
  });
}
