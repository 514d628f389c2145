/** `--bodies`: measures the server's time and memory for many request bodies and messages. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import type { OnProgress } from './measure.js';
import { digits, table } from './report.js';
import { BODIES } from './serving/body-payloads.js';
import { MESSAGES } from './serving/message-payloads.js';
import { MIB, type Payload } from './serving/payload.js';
import { Mismatch } from './verify.js';

export interface BodiesPlan {
  /** The maximum size in MiB of bodies that can have any size. `Payload.maxMib` may be lower. */
  readonly maxMib: number;
  /** How often each body is sent. */
  readonly rounds: number;
  /** Whether each body gets a new server process: then no earlier body changes the memory that is measured. */
  readonly newServers: boolean;
}
/** The sizes and rounds of both plans are chosen by hand: larger bodies and more rounds take longer. */
export const FULL_BODIES: BodiesPlan = { maxMib: 16, rounds: 2, newServers: true };
export const SMALL_BODIES: BodiesPlan = { maxMib: 0.01, rounds: 1, newServers: false };

/** The cost of a body in one round; or over all rounds, with the minimum of the times and the maximum of the memory. */
interface Cost {
  readonly cpuMs: number;
  /** The longest time that one piece of work blocks the event loop. */
  readonly longestMs: number;
  /** The peak growth of resident memory; null where the system does not report it. */
  readonly addedBytes: number | null;
}

export interface BodyFigures extends Cost {
  readonly path: string;
  /** The label of the body, as in `Payload`. */
  readonly what: string;
  readonly bodyBytes: number;
  readonly answerBytes: number;
}

const PAYLOADS: readonly Payload[] = [...BODIES, ...MESSAGES];
const SERVER = fileURLToPath(new URL('serving/measured-server.js', import.meta.url));

export async function measureBodies(
  { maxMib, rounds, newServers }: BodiesPlan,
  onProgress: OnProgress,
): Promise<BodyFigures[]> {
  const figures: BodyFigures[] = [];
  let server: MeasuredServer | null = null;
  try {
    for (const [k, payload] of PAYLOADS.entries()) {
      onProgress(`bodies, ${k + 1} of ${PAYLOADS.length}: ${payload.path}, ${payload.what}`);
      if (newServers) await server?.close();
      if (newServers || server === null) {
        server = await MeasuredServer.start();
        await warmUp(server.url);
      }
      figures.push(
        await measurePayload(server, payload, payload.body(Math.min(payload.maxMib, maxMib)), rounds),
      );
    }
  } finally {
    await server?.close();
  }
  return figures;
}

/** A server process that measures its own time and memory. */
class MeasuredServer {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<MeasuredServer> {
    const child = fork(SERVER, { execArgv: ['--expose-gc'] });
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    return new MeasuredServer(child, url);
  }

  /** Begins or ends a measurement. 'end' returns the cost since the last 'begin'; drop what 'begin' returns. */
  async measure(command: 'begin' | 'end'): Promise<Cost> {
    this.#child.send(command);
    return (await once(this.#child, 'message'))[0] as Cost;
  }

  async close(): Promise<void> {
    if (!this.#child.connected) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

async function measurePayload(
  server: MeasuredServer,
  payload: Payload,
  body: Buffer,
  rounds: number,
): Promise<BodyFigures> {
  const send = payload.path.startsWith('/v1/') && payload.path !== '/v1/vec' ? post : sendMessage;
  const costs: Cost[] = [];
  let answerBytes = 0;
  for (let round = 0; round < rounds; round++) {
    answerBytes = await send(server, payload, body, (cost) => costs.push(cost));
  }
  return {
    path: payload.path,
    what: payload.what,
    bodyBytes: body.length,
    answerBytes,
    ...combined(costs),
  };
}

function combined(costs: readonly Cost[]): Cost {
  const added = costs.flatMap(({ addedBytes }) => addedBytes ?? []);
  return {
    cpuMs: Math.min(...costs.map(({ cpuMs }) => cpuMs)),
    longestMs: Math.min(...costs.map(({ longestMs }) => longestMs)),
    addedBytes: added.length === 0 ? null : Math.max(...added),
  };
}

/** Sends requests so that the server loads and compiles its code. */
async function warmUp(url: string): Promise<void> {
  const columns = { seeds: [1], action_histories: [[]] };
  const requests: [string, object][] = [
    ['/v1/score', { ...columns, actions: [0] }],
    ['/v1/prompts', columns],
    ['/v1/rollout', { seeds: [1], group_size: 1, policy: 'heuristic' }],
  ];
  for (const [path, body] of requests) {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok)
      throw new Mismatch(`${path}: Expected 200, got ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

/** Sends a body, and reports the cost that the server measured. Returns the length of the answer in bytes. */
type Send = (
  server: MeasuredServer,
  payload: Payload,
  body: Buffer,
  onCost: (cost: Cost) => void,
) => Promise<number>;

/** Posts a body. */
const post: Send = async (server, { path }, body, onCost) => {
  await server.measure('begin');
  const sent = request(server.url + path, { method: 'POST', headers: { 'content-length': body.length } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let bytes = 0;
  for await (const piece of response) bytes += piece.length;
  onCost(await server.measure('end'));
  if (response.statusCode >= 500)
    throw new Mismatch(`${path}: Expected a status below 500, got ${response.statusCode}.`);
  return bytes;
};

/** Sends a message over a WebSocket. */
const sendMessage: Send = async (server, { path, before = [], isBinary = false }, body, onCost) => {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path, {
    perMessageDeflate: false,
    maxPayload: 0,
  });
  await once(socket, 'open');
  const answerTo = async (message: string | Buffer, binary = false): Promise<Buffer> => {
    socket.send(message, { binary });
    const [answer] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
    if (typeof answer === 'number')
      throw new Mismatch(`${path}: Expected an answer, got the close code ${answer}.`);
    return answer as Buffer;
  };
  for (const message of before) await answerTo(message);
  await server.measure('begin');
  const answer = await answerTo(body, isBinary);
  onCost(await server.measure('end'));
  socket.terminate();
  return answer.length;
};

export function renderBodies(figures: readonly BodyFigures[]): string {
  const head = [
    'body',
    'path',
    'body MiB',
    'answer MiB',
    'CPU s',
    'longest block ms',
    'added MiB',
    'added / body',
  ];
  const lines = figures.map(({ path, what, bodyBytes, answerBytes, cpuMs, longestMs, addedBytes }) => [
    what,
    path,
    digits(bodyBytes / MIB, 1),
    digits(answerBytes / MIB, 1),
    digits(cpuMs / 1000, 2),
    digits(longestMs, 0),
    addedBytes === null ? '-' : digits(addedBytes / MIB, 0),
    addedBytes === null ? '-' : digits(addedBytes / bodyBytes, 1),
  ]);
  return table(head, lines, 2);
}
