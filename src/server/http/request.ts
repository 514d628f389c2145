/** A request: reads its body up to a limit, and reports whether the client is still connected. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe } from '../../shared/values.js';
import { hasTooManyValues, MAX_VALUES } from '../protocol/json-limits.js';
import {
  InvalidRequestError,
  invalidJson,
  invalidObject,
  missing,
  tooManyValues,
} from '../protocol/validation-errors.js';

/** The error for a body above the limit. */
export class TooLargeError extends Error {
  constructor(limit: number) {
    super(`Expected a body of at most ${limit} bytes, got a larger body. Send less at a time.`);
  }
}

/** The error for a client that has disconnected. */
export class DisconnectedError extends Error {}

/**
 * Inspects a body while it arrives. Called after each chunk.
 * @param body a buffer with the body so far. It may be another buffer in the next call.
 * @param length the number of bytes received.
 * @throws InvalidRequestError. The rest of the body is then read and discarded.
 */
export type Inspect = (body: Buffer, length: number) => void;

/** The size in bytes of the first buffer for a body of unknown length. */
const FIRST_BYTES = 2 ** 16;
/** The maximum length of a client's name, in characters. */
const MAX_CLIENT = 128;
const NO_BYTES: Buffer = Buffer.alloc(0);

export class HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  readonly #disconnected = new AbortController();
  /** Settles when the answer is sent or the client has disconnected. The answer's memory may then be reused. */
  readonly finished: Promise<void>;

  /** @param limit the maximum size of the body in bytes. */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, limit: number) {
    this.#incoming = incoming;
    this.#limit = limit;
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

  /** Whether the body is a binary frame. Other bodies are JSON, whatever their type. */
  get isFrame(): boolean {
    return /^application\/octet-stream\b/i.test(this.#incoming.headers['content-type'] ?? '');
  }

  /** Aborted with a DisconnectedError when the client disconnects. */
  get signal(): AbortSignal {
    return this.#disconnected.signal;
  }

  /**
   * Reads the body. Call it once.
   * @throws TooLargeError, DisconnectedError, and the error of `inspect`. The error of `inspect` is thrown after the whole
   *   body was read, because a client that is still sending would not read the answer.
   */
  async bytes(inspect: Inspect = () => {}): Promise<Buffer> {
    const contentLength = this.#incoming.headers['content-length'];
    if (Number(contentLength ?? 0) > this.#limit) throw new TooLargeError(this.#limit);
    // Not from Node's pool: the arrays of a binary frame need a buffer that begins at offset 0 of its memory.
    let body: Buffer = Buffer.allocUnsafeSlow(Number(contentLength ?? FIRST_BYTES));
    let length = 0;
    let invalid: unknown;
    for await (const chunk of this.#chunks()) {
      if (invalid === undefined) {
        body = withRoomFor(chunk.length, body, length, this.#limit);
        chunk.copy(body, length);
      }
      length += chunk.length;
      try {
        if (invalid === undefined) inspect(body, length);
      } catch (error) {
        invalid = error;
        body = NO_BYTES;
      }
    }
    if (invalid !== undefined) throw invalid;
    return body.subarray(0, length);
  }

  /** Reads a message of OpenEnv. @throws as `bytes`, and InvalidRequestError for too many values. */
  async message(): Promise<string> {
    const body = await this.bytes();
    if (hasTooManyValues(body)) throw new InvalidRequestError([tooManyValues(['body'], MAX_VALUES)]);
    return body.toString();
  }

  /** Yields the chunks of the body. @throws TooLargeError, DisconnectedError. */
  async *#chunks(): AsyncGenerator<Buffer> {
    let bytes = 0;
    try {
      for await (const chunk of this.#incoming as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > this.#limit) throw new TooLargeError(this.#limit);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof TooLargeError
        ? error
        : new DisconnectedError('The client has disconnected.', { cause: error });
    }
  }
}

/** Returns the buffer, or a larger copy if `more` bytes after `length` do not fit. */
function withRoomFor(more: number, body: Buffer, length: number, limit: number): Buffer {
  if (length + more <= body.length) return body;
  const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * body.length, length + more), limit));
  body.copy(grown, 0, 0, length);
  return grown;
}

/** Parses the JSON of a body; undefined for an empty body. @throws InvalidRequestError. */
export function bodyOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidRequestError([invalidJson((error as SyntaxError).message)]);
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
