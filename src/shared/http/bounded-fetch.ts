/** `fetch` with limits on the response, so that no server can exhaust the client's memory or stack. */

/**
 * The maximum nesting depth of arrays and objects in a response. Chat endpoints and the Hugging Face Hub use fewer than ten
 * levels. `JSON.parse` reads any depth, but `JSON.stringify` and other recursive functions overflow the stack at a few thousand
 * levels.
 */
export const MAX_DEPTH = 64;

/**
 * The error of a response beyond the limits. The message is a phrase that says what came; the client that reports the error
 * says what was expected, and the remedy.
 */
export class BoundsError extends RangeError {
  override readonly name = 'BoundsError';
}

/**
 * Returns a `fetch` that limits each response body: at most `maxBytes` bytes after decompression, and at most MAX_DEPTH
 * levels of brackets outside JSON strings. Beyond a limit, reading fails with a BoundsError and the connection is
 * closed.
 */
export const boundedFetch =
  (maxBytes: number): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    return new Response(response.body.pipeThrough(limitBody(maxBytes)), response);
  };

function limitBody(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  const brackets = new BracketCounter();
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new BoundsError(`more than ${maxBytes} bytes of a response`);
      if (brackets.add(chunk) > MAX_DEPTH)
        throw new BoundsError(`more than ${MAX_DEPTH} levels of nesting in a response`);
      controller.enqueue(chunk);
    },
  });
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Counts the open brackets of a JSON text that arrives in chunks of UTF-8. All bytes of interest are ASCII. */
class BracketCounter {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Reads a chunk. @returns the largest number of open brackets within this chunk. */
  add(chunk: Uint8Array): number {
    let deepest = this.#depth;
    for (const byte of chunk) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === QUOTE) this.#inString = !this.#inString;
      else if (this.#inString) this.#escaped = byte === BACKSLASH;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) deepest = Math.max(deepest, ++this.#depth);
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#depth--;
    }
    return deepest;
  }
}
