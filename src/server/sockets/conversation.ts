/** A socket's side of the protocol's manners: one frame after the other, and nothing that piles up. */
import type { WebSocket } from 'ws';
import type { Answer, Talk } from './talk.js';

/** Of a client that does not read: answers that wait for it in this process, in bytes, before it gets no more. */
const MOST_UNSENT = 1 << 20;
/** Of a client that does not wait: frames that wait for their turn, and their bytes, before nothing more is read. */
const MOST_WAITING = 16;
const MOST_UNHEARD = 1 << 20;

export const CLOSE = { normal: 1000, goingAway: 1001, failure: 1011 } as const;

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export class Conversation {
  readonly socket: WebSocket;
  readonly #talk: Talk;
  readonly #onFailure: (error: unknown) => void;
  #waiting: Frame[] = [];
  #unheard = 0;
  #busy = false;
  #finishing = false;
  #ended = false;
  /** Milliseconds of a clock that only runs forward, when the last frame came. */
  heardAt = performance.now();
  /** Whether the last ping was answered. */
  alive = true;

  /** @param onFailure told of what should not happen. */
  constructor(socket: WebSocket, talk: Talk, onFailure: (error: unknown) => void) {
    this.socket = socket;
    this.#talk = talk;
    this.#onFailure = onFailure;
    socket.on('message', (data, isBinary) => this.#hear({ data: data as Buffer, isBinary }));
    socket.on('pong', () => {
      this.alive = true;
    });
    // What is wrong with frames, ws has told the client; a close follows.
    socket.on('error', () => {});
    socket.on('close', () => this.#end());
  }

  /** Answers what has come, and nothing more; then says goodbye. */
  finish(reason: string): void {
    this.#finishing = true;
    this.socket.pause();
    if (!this.#busy) this.#close(CLOSE.goingAway, reason);
  }

  #hear(frame: Frame): void {
    this.heardAt = performance.now();
    this.alive = true;
    this.#waiting.push(frame);
    this.#unheard += frame.data.length;
    if (!this.#busy) void this.#answerAll();
    else if (this.#waiting.length >= MOST_WAITING || this.#unheard >= MOST_UNHEARD) this.socket.pause();
  }

  async #answerAll(): Promise<void> {
    this.#busy = true;
    try {
      for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
        this.#unheard -= frame.data.length;
        const answer = await this.#talk.answer(frame.data, frame.isBinary);
        if (answer.frame !== null) await this.#send(answer.frame);
        if (answer.ends) return this.#close(CLOSE.normal);
      }
    } catch (error) {
      this.#onFailure(error);
      return this.#close(CLOSE.failure, 'internal error');
    }
    this.#busy = false;
    if (this.#finishing) this.#close(CLOSE.goingAway, 'the server is shutting down');
    else if (this.socket.isPaused) this.socket.resume();
  }

  /** @returns a promise only if the client is so slow that it is to be waited for. */
  #send(frame: Exclude<Answer['frame'], null>): Promise<void> | undefined {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    // A large one is waited for: what it was made of is held as long, so that nobody has both at once.
    if (frame.length + socket.bufferedAmount < MOST_UNSENT) {
      socket.send(frame);
      return;
    }
    return new Promise((resolve) => socket.send(frame, () => resolve()));
  }

  /** What is held for the client is free at once: it may be slow to say goodbye. */
  #end(): void {
    this.#waiting = [];
    if (!this.#ended) this.#talk.end();
    this.#ended = true;
  }

  #close(code: number, reason?: string): void {
    this.#end();
    // A paused socket would not see the other side's goodbye.
    this.socket.resume();
    this.socket.removeAllListeners('message');
    this.socket.close(code, reason);
  }
}
