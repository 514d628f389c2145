/** The WebSockets of one path: upgrades requests, and closes idle and unresponsive sockets. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE, Connection } from './connection.js';
import type { MessageHandler } from './message-handler.js';

export interface SocketsOptions {
  /** The maximum size of a frame in bytes. */
  readonly frameLimit: number;
  /** Milliseconds between two pings; `idleMs` if that is less. A client that is silent until the next ping is disconnected. */
  readonly pingMs: number;
  /** Milliseconds without a frame after which the next ping closes a socket. */
  readonly idleMs: number;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds that a client has to answer the closing handshake. Chosen by hand: a longer time may delay the shutdown. */
const HANDSHAKE_MS = 1500;
/** Milliseconds between two checks for clients that exceed HANDSHAKE_MS. Chosen by hand. */
const CHECK_MS = 100;
/** The reason in the close frames of a server that shuts down. */
const SHUTDOWN = 'the server is shutting down';

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
    // After a long computation the timers run before the sockets are read. `setImmediate` runs after both.
    const sweep = (): void => void setImmediate(() => this.#sweep());
    this.#timer = setInterval(sweep, Math.min(options.pingMs, options.idleMs));
    this.#timer.unref();
  }

  /** The number of open sockets. */
  get size(): number {
    return this.#connections.size;
  }

  /** Upgrades a request to a WebSocket. @param head the first bytes after the request's head. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // The request may have arrived before the server began to close.
    if (this.#closing) stream.destroy();
    else {
      this.#server.handleUpgrade(request, stream, head, (socket) => this.#add(socket));
    }
  }

  #add(socket: WebSocket): void {
    const connection = new Connection(socket, this.#open(), this.#options.onFailure);
    this.#connections.add(connection);
    socket.on('close', () => this.#connections.delete(connection));
  }

  /** Closes idle sockets and sockets that were silent since the last ping, and sends the next ping. */
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

  /**
   * Answers the messages that have arrived, and closes all sockets. Cuts off the sockets that are open after `graceMs`, and
   * those whose client does not answer the closing handshake within HANDSHAKE_MS.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    const closed = [...this.#connections].map(
      ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const connection of this.#connections) connection.finish(SHUTDOWN);
    const cut = (isCut: (connection: Connection) => boolean) => () => {
      for (const connection of this.#connections) if (isCut(connection)) connection.socket.terminate();
    };
    const timers = [
      setInterval(
        cut((connection) => connection.isClosingFor(HANDSHAKE_MS)),
        CHECK_MS,
      ),
      setTimeout(
        cut(() => true),
        graceMs,
      ),
    ];
    await Promise.all(closed);
    for (const timer of timers) clearTimeout(timer);
  }
}
