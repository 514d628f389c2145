/** A server of this process on a free port, and clients that wait for one answer to each frame. */
import { once } from 'node:events';
import { afterEach } from 'vitest';
import { WebSocket } from 'ws';
import type { ServeOptions } from '../../src/server/options.js';
import { openServer, type RunningServer } from '../../src/server/server.js';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** Closed after the test. Whatever nobody foresaw fails it. */
export async function startServer(options: ServeOptions = {}): Promise<RunningServer> {
  const server = await openServer({ port: 0, onFailure: fail, ...options });
  running.push(server);
  return server;
}

function fail(error: unknown): never {
  throw error;
}

export interface Answered {
  readonly status: number;
  readonly contentType: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, looked at by tests.
  readonly body: any;
}

/** @param body a string is sent as it is. */
export async function ask(
  { url }: RunningServer,
  method: string,
  path: string,
  body: unknown = null,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === null ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  const isJson = contentType?.startsWith('application/json');
  return { status: response.status, contentType, body: isJson ? JSON.parse(text) : text };
}

/** A socket's other end. */
export class Client {
  readonly socket: WebSocket;
  readonly #answers: (string | Buffer)[] = [];
  readonly #awaited: ((answer: string | Buffer) => void)[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      const answer = isBinary ? data : data.toString();
      const awaited = this.#awaited.shift();
      if (awaited === undefined) this.#answers.push(answer);
      else awaited(answer);
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** The next answer. Rejects if the socket is closed before it comes. */
  next(): Promise<string | Buffer> {
    const answer = this.#answers.shift();
    if (answer !== undefined) return Promise.resolve(answer);
    return new Promise((resolve, reject) => {
      this.#awaited.push(resolve);
      this.closed.then(({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`)));
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON, looked at by tests.
  async say(message: unknown): Promise<any> {
    this.socket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
    return JSON.parse((await this.next()).toString());
  }
}

/** @throws what the server answers instead of an upgrade. */
export async function connect(
  { port }: RunningServer,
  path = '/ws',
  headers: Record<string, string> = {},
): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, perMessageDeflate: false });
  const client = new Client(socket);
  await once(socket, 'open');
  return client;
}
