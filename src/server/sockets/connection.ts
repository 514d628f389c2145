/** One socket's connection: answers its frames in order, and limits what is buffered. */
import type { WebSocket } from 'ws';
import { InputError, RhythmError } from '../../shared/errors.js';
import { InvalidRequestError, validationErrors } from '../protocol/errors.js';

/** From this many unsent bytes on, the next answer waits until they are sent. Chosen by hand: more take more memory. */
const MAX_UNSENT = 1 << 20;
/**
 * The number and total size in bytes of waiting frames at which reading pauses: some clients do not wait for answers. Chosen by
 * hand: more take more memory.
 */
const MAX_WAITING = 16;
const MAX_WAITING_BYTES = 1 << 20;

export interface Answer {
  /** A text or binary frame; null sends nothing. */
  readonly frame: string | Uint8Array | null;
  /** Whether the socket is closed after this answer. */
  readonly ends?: boolean;
}

export interface MessageHandler {
  /** Answers a frame. The next call waits for the answer. @throws MessageError, InvalidRequestError or RhythmError. */
  answer(data: Buffer, isBinary: boolean): Answer | Promise<Answer>;
  /** Frees the handler's memory. Called exactly once, when the socket closes. */
  end(): void;
}

/** Error codes that OpenEnv's clients know. */
export type ErrorName =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** An error that a socket answers with this code. */
export class MessageError extends Error {
  readonly code: ErrorName;
  /** Further fields of the answer. */
  readonly more: object;
  /** Whether the socket is closed after the answer. */
  readonly ends: boolean;
  constructor(code: ErrorName, message: string, more: object = {}, ends = false) {
    super(message);
    this.code = code;
    this.more = more;
    this.ends = ends;
  }
}

/** Builds the error for a message of an unknown type. */
export const unknownType = (type: string): MessageError =>
  new MessageError('UNKNOWN_TYPE', `Unknown message type: ${type.slice(0, 100)}`);

/** Returns the answer to a frame, or for the error of a client. @throws unexpected errors. */
export async function answerTo(handler: MessageHandler, data: Buffer, isBinary: boolean): Promise<Answer> {
  try {
    return await handler.answer(data, isBinary);
  } catch (error) {
    return errorAnswer(error);
  }
}

function errorAnswer(error: unknown): Answer {
  const answer = (code: ErrorName, message: string, more: object = {}, ends = false): Answer => ({
    frame: JSON.stringify({ type: 'error', data: { message, code, ...more } }),
    ends,
  });
  if (error instanceof MessageError) return answer(error.code, error.message, error.more, error.ends);
  if (error instanceof InvalidRequestError)
    return answer('VALIDATION_ERROR', 'Invalid message', { errors: error.errors });
  if (error instanceof InputError)
    return answer('VALIDATION_ERROR', error.message, { errors: validationErrors(error) });
  if (error instanceof RhythmError) return answer('EXECUTION_ERROR', error.message);
  throw error;
}

/** Close codes of WebSockets. */
export const CLOSE = { normal: 1000, goingAway: 1001, failure: 1011 } as const;

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export class Connection {
  readonly socket: WebSocket;
  readonly #handler: MessageHandler;
  readonly #onFailure: (error: unknown) => void;
  #waiting: Frame[] = [];
  #waitingBytes = 0;
  #busy = false;
  #finishing = false;
  #ended = false;
  /** When the closing handshake began, in milliseconds of a monotonic clock; null before. */
  #closedAt: number | null = null;
  #finishReason = '';
  /** The time of the last frame, in milliseconds of a monotonic clock. */
  receivedAt = performance.now();
  /** Whether a frame or the answer to a ping has arrived since the last ping. */
  alive = true;

  /** @param onFailure receives unexpected errors. */
  constructor(socket: WebSocket, handler: MessageHandler, onFailure: (error: unknown) => void) {
    this.socket = socket;
    this.#handler = handler;
    this.#onFailure = onFailure;
    socket.on('message', (data, isBinary) => this.#receive({ data: data as Buffer, isBinary }));
    socket.on('pong', () => {
      this.alive = true;
    });
    // The library `ws` reports frame errors to the client; a close event follows.
    socket.on('error', () => {});
    socket.on('close', () => this.#end());
  }

  /** Answers the frames that have arrived, and then closes. */
  finish(reason: string): void {
    this.#finishing = true;
    this.#finishReason = reason;
    this.socket.pause();
    if (!this.#busy) this.#close(CLOSE.goingAway, reason);
  }

  /** Returns whether this connection began its closing handshake more than `ms` milliseconds ago. */
  isClosingFor(ms: number): boolean {
    return this.#closedAt !== null && performance.now() - this.#closedAt > ms;
  }

  #receive(frame: Frame): void {
    this.receivedAt = performance.now();
    this.alive = true;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.data.length;
    if (!this.#busy) void this.#answerAll();
    else if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES)
      this.socket.pause();
  }

  async #answerAll(): Promise<void> {
    this.#busy = true;
    try {
      for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
        this.#waitingBytes -= frame.data.length;
        const answer = await answerTo(this.#handler, frame.data, frame.isBinary);
        if (answer.frame !== null) await this.#send(answer.frame);
        if (answer.ends) return this.#close(CLOSE.normal);
      }
    } catch (error) {
      this.#onFailure(error);
      return this.#close(CLOSE.failure, 'internal error');
    }
    this.#busy = false;
    if (this.#finishing) this.#close(CLOSE.goingAway, this.#finishReason);
    else if (this.socket.isPaused) this.socket.resume();
  }

  /** Sends an answer. Returns a promise only if the next answer must wait until this one is sent. */
  #send(frame: Exclude<Answer['frame'], null>): Promise<void> | undefined {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    if (frame.length + socket.bufferedAmount < MAX_UNSENT) {
      socket.send(frame);
      return;
    }
    return new Promise((resolve) => socket.send(frame, () => resolve()));
  }

  /** Ends the message handler and drops the waiting frames, without waiting for the closing handshake. */
  #end(): void {
    this.#waiting = [];
    if (!this.#ended) this.#handler.end();
    this.#ended = true;
  }

  #close(code: number, reason?: string): void {
    this.#end();
    // A paused socket would not receive the client's close frame.
    this.socket.resume();
    this.socket.removeAllListeners('message');
    this.#closedAt = performance.now();
    this.socket.close(code, reason);
  }
}
