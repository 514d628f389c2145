/** Starts servers in this process, and opens clients that wait for one answer per message. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ACTION_NAMES, Episode, OBSERVATION, OBSERVATION_SIZE } from '../../src/index.js';
import { openServer } from '../../src/server/open-server.js';
import type { RunningServer } from '../../src/server/server.js';
import type { ServeOptions } from '../../src/server/server-options.js';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';

/** Starts a server on a free port. It is closed after the test. An unexpected error fails the test. */
export async function startServer(options: ServeOptions = {}): Promise<RunningServer> {
  const server = await openServer({ port: 0, onFailure: fail, ...options });
  onTestFinished(async () => {
    await server.close();
  });
  return server;
}

function fail(error: unknown): never {
  throw error;
}

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, inspected by tests.
  readonly body: any;
}

/** Sends a request. @param body sent as JSON; a string is sent unchanged. */
export async function sendRequest(
  { url }: Pick<RunningServer, 'url'>,
  method: string,
  path: string,
  body: unknown = null,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
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

/** A WebSocket client. */
export class Client {
  readonly socket: WebSocket;
  readonly #answers: (string | Buffer)[] = [];
  readonly #waiting: ((answer: string | Buffer) => void)[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      const answer = isBinary ? data : data.toString();
      const resolve = this.#waiting.shift();
      if (resolve === undefined) this.#answers.push(answer);
      else resolve(answer);
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Returns the next answer. Rejects if the socket closes first. */
  next(): Promise<string | Buffer> {
    const answer = this.#answers.shift();
    if (answer !== undefined) return Promise.resolve(answer);
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      this.closed.then(({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`)));
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON, inspected by tests.
  async request(message: unknown): Promise<any> {
    this.socket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
    return JSON.parse((await this.next()).toString());
  }
}

/** Opens a client. @throws an error with the status if the server refuses the upgrade. */
export async function connect(
  { port }: Pick<RunningServer, 'port'>,
  path = '/ws',
  headers: Record<string, string> = {},
): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, perMessageDeflate: false });
  const client = new Client(socket);
  await once(socket, 'open');
  return client;
}

/** Reads a metric of the server. */
export async function metric(server: Pick<RunningServer, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const match = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
  if (match === null) throw new Error(`Expected ${name} among the metrics, got none.`);
  return Number(match[1]);
}

/** Milliseconds between two readings of a metric. Chosen by hand: less loads the server, and more delays the tests. */
const POLL_MS = 10;

/** Reads a metric until it has the value, at most 3,000 times, which takes at least 30 seconds. */
export async function metricBecomes(
  server: Pick<RunningServer, 'url'>,
  name: string,
  value: number,
): Promise<void> {
  let last = Number.NaN;
  for (let tries = 0; tries < 3000; tries++) {
    last = await metric(server, name);
    if (last === value) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`Expected ${name} to become ${value}, got ${last}.`);
}

/** A session that is compared with the reference, bit by bit, at every step. */
export class CheckedSession {
  readonly #client: Client;
  readonly #episode = new Episode();
  #seed: number;

  constructor(client: Client, seed: number) {
    this.#client = client;
    this.#seed = seed;
    this.#episode.reset(seed);
  }

  async begin(): Promise<this> {
    await this.#client.request({ type: 'reset', data: { seed: this.#seed } });
    return this;
  }

  /** Takes a step, in a new episode if the last one has ended. @throws if a bit differs from the reference. */
  async step(): Promise<void> {
    if (this.#episode.terminated) {
      this.#episode.reset(++this.#seed);
      await this.begin();
    }
    const code = (this.#seed + 3 * this.#episode.stepCount) % ACTION_NAMES.length;
    const { type, data } = await this.#client.request({
      type: 'step',
      data: { action_type: ACTION_NAMES[code] },
    });
    const reward = this.#episode.step(code);
    const row = new Float32Array(OBSERVATION_SIZE);
    this.#episode.observe(row, 0);
    const { meters, deltas, anomalies } = data.observation ?? {};
    expect([type, data.reward, data.done]).toEqual([
      'observation',
      float32Decimal(reward),
      this.#episode.terminated,
    ]);
    expect([meters, deltas, anomalies]).toEqual(
      [OBSERVATION.meters, OBSERVATION.deltas, OBSERVATION.anomalies].map((at) =>
        float32Decimals(row.slice(at, at + 5)),
      ),
    );
    const { terminated, finalScore } = this.#episode;
    expect(data.observation.final_score).toBe(terminated ? float32Decimal(finalScore) : null);
  }
}

/**
 * Sends a request and does not read the answer, of about 22 MB: more than the operating system holds for a client that does not
 * read. The request stays in progress until its socket is destroyed.
 */
export async function occupy(server: Pick<RunningServer, 'url' | 'port'>): Promise<Socket> {
  const body = { seeds: [1], group_size: 2048, policy: 'heuristic', arrays: ['observations'] };
  const socket = createConnection(server.port, '127.0.0.1')
    .on('error', () => {})
    .pause();
  const json = JSON.stringify(body);
  socket.write(
    `POST /v1/rollout HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  return socket;
}
