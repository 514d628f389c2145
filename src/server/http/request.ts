/** A request as handlers read it: its body, up to a limit, and whether anybody still waits for the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe } from '../../validate/values.js';
import { missing, noObject, type Refusal, RefusedError } from '../protocol/refusals.js';

/** A body that is larger than the server reads. */
export class TooLargeError extends Error {
  constructor(most: string, got = 'a larger one') {
    super(`Expected a body of at most ${most}, got ${got}. Send less at a time.`);
  }
}

/**
 * Lists and objects of a body: reading JSON takes a time that grows with them rather than with its length. So many are read
 * in some tenths of a second, in which nobody else has a turn; a million rows have two million.
 */
const MOST_PARTS = 2 ** 22;

export class TooManyPartsError extends TooLargeError {
  constructor() {
    super(`${MOST_PARTS} lists and objects`, 'more');
  }
}

/** Nobody is there any more who could be answered. */
export class GoneError extends Error {}

export class HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  readonly #gone = new AbortController();
  /** Settles when the answer is sent, or nobody is there any more: nothing of it is held then. */
  readonly left: Promise<void>;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, limit: number) {
    this.#incoming = incoming;
    this.#limit = limit;
    this.left = new Promise((resolve) => {
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) this.#gone.abort(new GoneError('The client is gone.'));
        resolve();
      });
    });
  }

  /** Aborted, with a GoneError, once the client is gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** The body; once. @throws TooLargeError, GoneError. */
  async text(): Promise<string> {
    const incoming = this.#incoming;
    const tooLarge = new TooLargeError(`${this.#limit} bytes`);
    if (Number(incoming.headers['content-length'] ?? 0) > this.#limit) throw tooLarge;
    const chunks: Buffer[] = [];
    let [bytes, parts] = [0, 0];
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        parts += partsOf(chunk);
        if (bytes > this.#limit) throw tooLarge;
        if (parts > MOST_PARTS) throw new TooManyPartsError();
        chunks.push(chunk);
      }
    } catch (error) {
      throw error instanceof TooLargeError ? error : new GoneError('The client is gone.', { cause: error });
    }
    return Buffer.concat(chunks, bytes).toString();
  }
}

/** The JSON of a body; undefined if it is empty. @throws RefusedError. */
export function bodyOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RefusedError([noJson(error as SyntaxError)]);
  }
}

/** The JSON object of a body. @throws RefusedError for an empty body, or anything else. */
export function objectOf(text: string): object {
  const body = bodyOf(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new RefusedError([body === undefined ? missing(['body'], null) : noObject(['body'], describe(body))]);
}

const [LIST, OBJECT] = Buffer.from('[{');

/** Those in strings too: it is a bound. */
function partsOf(chunk: Buffer): number {
  let count = 0;
  for (let at = 0; at < chunk.length; at++) if (chunk[at] === LIST || chunk[at] === OBJECT) count++;
  return count;
}

const noJson = ({ message }: SyntaxError): Refusal => ({
  type: 'json_invalid',
  loc: ['body', Number(/at position (\d+)/.exec(message)?.[1] ?? 0)],
  msg: 'JSON decode error',
  input: {},
  ctx: { error: message },
});
