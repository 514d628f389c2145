/** A request: reads its body up to a limit, and reports whether the client is still connected. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe } from '../../shared/values.js';
import {
  InvalidRequestError,
  invalidJson,
  invalidObject,
  missing,
  tooManyValues,
} from '../protocol/errors.js';
import { hasTooManyValues, MAX_VALUES } from '../protocol/json-limits.js';

/** The error for a body above the limit. */
export class TooLargeError extends Error {
  /** @param orFrame whether the route accepts larger bodies as binary frames. */
  constructor(limit: number, orFrame: boolean) {
    const remedy = `Send less at a time${orFrame ? ', or a binary frame (application/octet-stream)' : ''}.`;
    super(`Expected a body of at most ${limit} bytes, got a larger body. ${remedy}`);
  }
}

/** The error for a body with a Content-Encoding. */
export class EncodedBodyError extends Error {
  constructor(encoding: string) {
    super(
      `Expected a body without Content-Encoding, got ${describe(encoding)}. Send the body uncompressed, without this header.`,
    );
  }
}

/** The error for a client that has disconnected. */
export class DisconnectedError extends Error {}

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
        if (!outgoing.writableFinished)
          this.#disconnected.abort(new DisconnectedError('The client has disconnected.'));
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

  /** Aborted with a DisconnectedError when the client disconnects. */
  get signal(): AbortSignal {
    return this.#disconnected.signal;
  }

  /**
   * Reads the body. Call it once. Memory is allocated as bytes arrive, not by Content-Length.
   * @param hold awaited before bytes are kept; the client cannot send more meanwhile.
   * @throws EncodedBodyError, TooLargeError, DisconnectedError, and the error of `hold`.
   */
  async bytes(hold: (bytes: number) => Promise<void> = async () => {}): Promise<Buffer> {
    const { 'content-encoding': encoding = '', 'content-length': declared } = this.#incoming.headers;
    if (!/^(identity)?$/i.test(encoding)) throw new EncodedBodyError(encoding);
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
    if (hasTooManyValues(body)) throw new InvalidRequestError([tooManyValues(['body'], MAX_VALUES)]);
    return body.toString();
  }

  #tooLarge(): TooLargeError {
    return new TooLargeError(this.#limit, this.#acceptsFrames && !this.isFrame);
  }

  /** Yields the chunks of the body. @throws TooLargeError, DisconnectedError. */
  async *#chunks(): AsyncGenerator<Buffer> {
    let bytes = 0;
    try {
      for await (const chunk of this.#incoming as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > this.#limit) throw this.#tooLarge();
        yield chunk;
      }
    } catch (error) {
      throw error instanceof TooLargeError
        ? error
        : new DisconnectedError('The client has disconnected.', { cause: error });
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

/** Parses the JSON of a body; undefined for an empty body. @throws InvalidRequestError. */
export function bodyOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson((error as SyntaxError).message);
  }
}

/** Parses the JSON object of a body. @throws InvalidRequestError for an empty body, invalid JSON or another value. */
export function objectOf(text: string): object {
  const body = bodyOf(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new InvalidRequestError([
    body === undefined ? missing(['body'], null) : invalidObject(['body'], describe(body)),
  ]);
}
