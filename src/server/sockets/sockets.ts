/** All sockets of one kind: who is let in, who is gone without a word, and who has nothing to say. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE, Conversation } from './conversation.js';
import type { Talk } from './talk.js';

export interface SocketsOptions {
  /** Bytes of a frame. */
  readonly frameLimit: number;
  /** Milliseconds between two pings; a client that has not answered one before the next is gone. */
  readonly pingMs: number;
  /** Milliseconds without a frame, after which a client is told to go. */
  readonly idleMs: number;
  readonly onFailure: (error: unknown) => void;
}

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #server: WebSocketServer;
  readonly #open: () => Talk;
  readonly #conversations = new Set<Conversation>();
  readonly #timer: NodeJS.Timeout;
  #closing = false;

  /** @param open one side of each conversation. */
  constructor(options: SocketsOptions, open: () => Talk) {
    this.#options = options;
    this.#open = open;
    const maxPayload = options.frameLimit;
    this.#server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload });
    this.#timer = setInterval(() => this.#sweep(), Math.min(options.pingMs, options.idleMs));
    this.#timer.unref();
  }

  get size(): number {
    return this.#conversations.size;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // One that was on its way when the server began to close.
    if (this.#closing) stream.destroy();
    else this.#server.handleUpgrade(request, stream, head, (socket) => this.#welcome(socket));
  }

  #welcome(socket: WebSocket): void {
    const conversation = new Conversation(socket, this.#open(), this.#options.onFailure);
    this.#conversations.add(conversation);
    socket.on('close', () => this.#conversations.delete(conversation));
  }

  /** A half-open socket answers no ping; one that leaks is idle. Either gives back what it holds. */
  #sweep(): void {
    const now = performance.now();
    for (const conversation of this.#conversations) {
      const { socket } = conversation;
      if (!conversation.alive) socket.terminate();
      else if (now - conversation.heardAt > this.#options.idleMs) {
        socket.close(CLOSE.goingAway, `idle for ${this.#options.idleMs} ms`);
      }
      conversation.alive = false;
      socket.ping();
    }
  }

  /** Lets every conversation finish what it was asked for; those not gone `graceMs` later are cut off. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    const gone = [...this.#conversations].map(
      ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const conversation of this.#conversations) conversation.finish('the server is shutting down');
    const cut = setTimeout(() => {
      for (const { socket } of this.#conversations) socket.terminate();
    }, graceMs);
    await Promise.all(gone);
    clearTimeout(cut);
  }
}
