/** The WebSockets of one path: upgrades requests, and closes idle and unresponsive sockets. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE, Connection } from './connection.js';
import type { MessageHandler } from './message-handler.js';

export interface SocketsOptions {
  /** The maximum size of a frame in bytes. */
  readonly frameLimit: number;
  /** Milliseconds between two pings. A client without an answer by the next ping is disconnected. */
  readonly pingMs: number;
  /** Milliseconds without a frame until a socket is closed. */
  readonly idleMs: number;
  readonly onFailure: (error: unknown) => void;
}

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #server: WebSocketServer;
  readonly #open: () => MessageHandler;
  readonly #connections = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  #closing = false;

  /** @param open creates a message handler per socket. */
  constructor(options: SocketsOptions, open: () => MessageHandler) {
    this.#options = options;
    this.#open = open;
    const maxPayload = options.frameLimit;
    this.#server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload });
    this.#timer = setInterval(() => this.#sweep(), Math.min(options.pingMs, options.idleMs));
    this.#timer.unref();
  }

  get size(): number {
    return this.#connections.size;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // The request may have arrived before the server began to close.
    if (this.#closing) stream.destroy();
    else this.#server.handleUpgrade(request, stream, head, (socket) => this.#add(socket));
  }

  #add(socket: WebSocket): void {
    const connection = new Connection(socket, this.#open(), this.#options.onFailure);
    this.#connections.add(connection);
    socket.on('close', () => this.#connections.delete(connection));
  }

  /** Closes idle sockets and those that did not answer the last ping. Sends the next ping to the others. */
  #sweep(): void {
    const now = performance.now();
    for (const connection of this.#connections) {
      const { socket } = connection;
      if (!connection.alive) socket.terminate();
      else if (now - connection.receivedAt > this.#options.idleMs) {
        socket.close(CLOSE.goingAway, `idle for ${this.#options.idleMs} ms`);
      }
      connection.alive = false;
      socket.ping();
    }
  }

  /** Finishes all messages in progress. Sockets still open after `graceMs` are cut off. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    const closed = [...this.#connections].map(
      ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const connection of this.#connections) connection.finish('the server is shutting down');
    const timeout = setTimeout(() => {
      for (const { socket } of this.#connections) socket.terminate();
    }, graceMs);
    await Promise.all(closed);
    clearTimeout(timeout);
  }
}
