/** A request: reads its body up to a limit, and reports whether the client is still connected. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sentenceOf } from '../../shared/errors.js';
import { describe } from '../../shared/values.js';
import { CLOSES, InvalidRequestError, StatusError } from '../protocol/errors.js';
import { hasTooManyValues, tooManyValues } from '../protocol/json.js';

/** Builds the error for a client that has disconnected. 499 is the status that logs use for it. */
const disconnected = (cause?: unknown): StatusError =>
  new StatusError(499, 'The client has disconnected.', {}, { cause });

/** The maximum size of a JSON body in bytes. Chosen by hand: its structure is read in one piece, which takes some 20 ms. */
export const MAX_JSON_BYTES = 2 ** 23;
/** The maximum length of a client's name, in characters. */
const MAX_CLIENT = 128;
/**
 * The maximum size of a body's buffer, as a multiple of what has arrived. Chosen by hand: more makes fewer copies, which use
 * memory until they are collected. The system gives memory only to bytes that were written.
 */
const GROWTH = 4;
const NO_BYTES: Buffer = Buffer.alloc(0);

export class HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  readonly #acceptsFrames: boolean;
  /** Whether the body is a binary frame. Other bodies are JSON, whatever their type. */
  readonly isFrame: boolean;
  readonly #disconnected = new AbortController();
  /** Settles when the answer is sent or the client has disconnected. The answer's memory may then be reused. */
  readonly finished: Promise<void>;

  /** @param limit the maximum size of the body in bytes. JSON has at most MAX_JSON_BYTES. */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, limit: number, acceptsFrames = false) {
    this.#incoming = incoming;
    const type = incoming.headers['content-type'] ?? '';
    this.isFrame = acceptsFrames && /^application\/octet-stream\b/i.test(type);
    this.#limit = this.isFrame ? limit : Math.min(limit, MAX_JSON_BYTES);
    this.#acceptsFrames = acceptsFrames;
    this.finished = new Promise((resolve) => {
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) this.#disconnected.abort(disconnected());
        resolve();
      });
    });
  }

  /** The client's name in the queue of batch requests (../fair-queue.ts): the header X-Client-Id, or the client's address. */
  get client(): string {
    const { headers, socket } = this.#incoming;
    const id = headers['x-client-id'];
    return id === undefined ? `${socket.remoteAddress}` : `id ${id}`.slice(0, MAX_CLIENT);
  }

  /** Returns a header; undefined if the request has none, or several. @param name in lower case. */
  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Aborted with a StatusError when the client disconnects. */
  get signal(): AbortSignal {
    return this.#disconnected.signal;
  }

  /**
   * Reads the body. Call it once. Memory is allocated as bytes arrive, not by Content-Length.
   * @param hold awaited before bytes are kept; the client cannot send more meanwhile.
   * @throws StatusError, and the error of `hold`.
   */
  async bytes(hold: (bytes: number) => Promise<void> = async () => {}): Promise<Buffer> {
    const { 'content-encoding': encoding = '', 'content-length': declared } = this.#incoming.headers;
    if (!/^(identity)?$/i.test(encoding)) throw encoded(encoding);
    const maxLength = Number(declared ?? this.#limit);
    if (maxLength > this.#limit) throw this.#tooLarge();
    let body: Buffer = NO_BYTES;
    let length = 0;
    for await (const chunk of this.#chunks()) {
      await hold(chunk.length);
      body = withRoomFor(chunk.length, body, length, maxLength);
      chunk.copy(body, length);
      length += chunk.length;
    }
    return body.subarray(0, length);
  }

  /** Reads a message of OpenEnv. @throws as `bytes`, and InvalidRequestError for too many values. */
  async message(): Promise<string> {
    const body = await this.bytes();
    if (hasTooManyValues(body)) throw new InvalidRequestError([tooManyValues(['body'])]);
    return body.toString();
  }

  #tooLarge(): StatusError {
    const orFrame =
      this.#acceptsFrames && !this.isFrame ? ', or a binary frame (application/octet-stream)' : '';
    const [expected, remedy] = [`a body of at most ${this.#limit} bytes`, `Send less at a time${orFrame}.`];
    return new StatusError(413, sentenceOf({ expected, got: 'a larger body', remedy }), CLOSES);
  }

  /** Yields the chunks of the body. @throws StatusError. */
  async *#chunks(): AsyncGenerator<Buffer> {
    let bytes = 0;
    try {
      for await (const chunk of this.#incoming as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > this.#limit) throw this.#tooLarge();
        yield chunk;
      }
    } catch (error) {
      throw error instanceof StatusError ? error : disconnected(error);
    }
  }
}

/**
 * Returns the buffer, or a larger copy if `more` bytes after `length` do not fit. It has at most `maxLength` bytes, and at most
 * GROWTH times as many as have arrived.
 */
function withRoomFor(more: number, body: Buffer, length: number, maxLength: number): Buffer {
  const arrived = length + more;
  if (arrived <= body.length) return body;
  const next = GROWTH * arrived >= maxLength ? maxLength : Math.max(2 * body.length, arrived);
  // Not from Node's pool: the arrays of a binary frame need a buffer that begins at offset 0 of its memory.
  const grown = Buffer.allocUnsafeSlow(next);
  body.copy(grown, 0, 0, length);
  return grown;
}

function encoded(encoding: string): StatusError {
  const expected = 'a body without Content-Encoding';
  const remedy = 'Send the body uncompressed, without this header.';
  const message = sentenceOf({ expected, got: describe(encoding), remedy });
  return new StatusError(415, message, { ...CLOSES, 'accept-encoding': 'identity' });
}
