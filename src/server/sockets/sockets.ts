/** The WebSockets of a server: upgrades requests by path, and closes idle and unresponsive sockets. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AccessCheck } from '../access-control.js';
import { CLOSES, NOT_FOUND, StatusError } from '../protocol/errors.js';
import { CLOSE, Connection, type MessageHandler } from './connection.js';

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

/** The WebSockets of one path. */
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

/** Sockets by path. */
export type SocketsByPath = Readonly<Record<string, Sockets>>;

/** For upgrades to another protocol than WebSocket, such as h2c, which some HTTP/2 clients request first. */
const OTHER_UPGRADE = new StatusError(
  400,
  'Expected HTTP/1.1, or an upgrade to a WebSocket, got another upgrade. Send the request without it.',
);

/**
 * Upgrades a request to a WebSocket, or sends an error and closes the connection.
 * @param head the first bytes after the request's head.
 */
export function upgrade(
  sockets: SocketsByPath,
  rejectionOf: AccessCheck,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  // The client may disconnect before the answer.
  stream.on('error', () => stream.destroy());
  const [path] = (request.url ?? '/').split('?');
  const isOther = request.headers.upgrade?.toLowerCase() !== 'websocket';
  const rejection = Object.hasOwn(sockets, path) ? rejectionOf(request) : NOT_FOUND;
  if (isOther) reject(stream, OTHER_UPGRADE);
  else if (rejection !== null) reject(stream, rejection);
  else sockets[path].upgrade(request, stream, head);
}

function reject(stream: Duplex, { status, message, headers }: StatusError): void {
  const body = JSON.stringify({ detail: message });
  const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries({ ...headers, ...length, ...CLOSES });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy());
}
