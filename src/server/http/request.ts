/** A request as handlers read it: its body, up to a limit, and whether anybody still waits for the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe } from '../../validate/values.js';
import { type Refusal, RefusedError } from '../protocol/refusals.js';

/** A body that is larger than the server reads. */
export class TooLargeError extends Error {
  constructor(limit: number) {
    super(`Expected a body of at most ${limit} bytes, got a larger one. Send less at a time.`);
  }
}

/** Nobody is there any more who could be answered. */
export class GoneError extends Error {}

export class HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  readonly #gone = new AbortController();

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, limit: number) {
    this.#incoming = incoming;
    this.#limit = limit;
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) this.#gone.abort(new GoneError('The client is gone.'));
    });
  }

  /** Aborted, with a GoneError, once the client is gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** The body's JSON; undefined if it is empty. @throws RefusedError, TooLargeError. */
  async body(): Promise<unknown> {
    const text = await this.#text();
    if (text.trim() === '') return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new RefusedError([noJson(error as SyntaxError)]);
    }
  }

  /** The body's JSON object. @throws RefusedError for an empty body, or anything else; TooLargeError. */
  async object(): Promise<object> {
    const body = await this.body();
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
    throw new RefusedError([body === undefined ? NO_BODY : noObject(body)]);
  }

  async #text(): Promise<string> {
    const incoming = this.#incoming;
    if (Number(incoming.headers['content-length'] ?? 0) > this.#limit) throw new TooLargeError(this.#limit);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of incoming) {
        bytes += (chunk as Buffer).length;
        if (bytes > this.#limit) throw new TooLargeError(this.#limit);
        chunks.push(chunk as Buffer);
      }
    } catch (error) {
      throw error instanceof TooLargeError ? error : new GoneError('The client is gone.', { cause: error });
    }
    return Buffer.concat(chunks, bytes).toString();
  }
}

const noJson = ({ message }: SyntaxError): Refusal => ({
  type: 'json_invalid',
  loc: ['body', Number(/at position (\d+)/.exec(message)?.[1] ?? 0)],
  msg: 'JSON decode error',
  input: {},
  ctx: { error: message },
});

const NO_BODY: Refusal = { type: 'missing', loc: ['body'], msg: 'Field required', input: null };

const noObject = (body: unknown): Refusal => ({
  type: 'dict_type',
  loc: ['body'],
  msg: 'Input should be a valid dictionary',
  input: describe(body),
});
