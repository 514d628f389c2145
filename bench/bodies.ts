/** `--bodies`: what bodies and messages of many shapes cost the server, each in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import type { OnProgress } from './measure.js';
import { digits, table } from './report.js';
import { MIB, SHAPES, type Shape } from './serving/shapes.js';
import { Mismatch } from './verify.js';

export interface BodiesPlan {
  /** MiB of a body, at most. */
  readonly most: number;
  readonly rounds: number;
}
export const FULL_BODIES: BodiesPlan = { most: 16, rounds: 2 };
export const SMALL_BODIES: BodiesPlan = { most: 0.01, rounds: 1 };

/** What the server measures: the most memory of all rounds, the least time. */
interface Cost {
  readonly cpuMs: number;
  /** Of a piece of work that holds the event loop. */
  readonly longestMs: number;
  /** Resident beside what was before, at most; null where the system does not tell. */
  readonly addedBytes: number | null;
}

export interface BodyFigures extends Cost {
  readonly path: string;
  readonly what: string;
  readonly bodyBytes: number;
  readonly answerBytes: number;
}

const SERVER = fileURLToPath(new URL('serving/measured-server.js', import.meta.url));

export async function measureBodies(
  { most, rounds }: BodiesPlan,
  onProgress: OnProgress,
): Promise<BodyFigures[]> {
  const figures: BodyFigures[] = [];
  for (const [k, shape] of SHAPES.entries()) {
    onProgress(`bodies, ${k + 1} of ${SHAPES.length}: ${shape.path}, ${shape.what}`);
    figures.push(await measureShape(shape, shape.body(Math.min(shape.most, most)), rounds));
  }
  return figures;
}

async function measureShape(shape: Shape, body: Buffer, rounds: number): Promise<BodyFigures> {
  const child = fork(SERVER, { execArgv: ['--expose-gc'] });
  try {
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    const send = shape.path.startsWith('/v1/') && shape.path !== '/v1/vec' ? post : say;
    await warmUp(url);
    const costs: Cost[] = [];
    let answerBytes = 0;
    for (let round = 0; round < rounds; round++) {
      const tell = async (what: string): Promise<Cost> => {
        child.send(what);
        return (await once(child, 'message'))[0] as Cost;
      };
      answerBytes = await send(url, shape, body, tell, (cost) => costs.push(cost));
    }
    return { path: shape.path, what: shape.what, bodyBytes: body.length, answerBytes, ...summed(costs) };
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

function summed(costs: readonly Cost[]): Cost {
  const added = costs.flatMap(({ addedBytes }) => addedBytes ?? []);
  return {
    cpuMs: Math.min(...costs.map(({ cpuMs }) => cpuMs)),
    longestMs: Math.min(...costs.map(({ longestMs }) => longestMs)),
    addedBytes: added.length === 0 ? null : Math.max(...added),
  };
}

/** Lets the server load and compile what every request needs. */
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

type Send = (
  url: string,
  shape: Shape,
  body: Buffer,
  tell: (what: string) => Promise<Cost>,
  take: (cost: Cost) => void,
) => Promise<number>;

/** Posts it. @returns the bytes of the answer. */
const post: Send = async (url, { path }, body, tell, take) => {
  await tell('begin');
  const asked = request(url + path, { method: 'POST', headers: { 'content-length': body.length } });
  asked.end(body);
  const [response] = await once(asked, 'response');
  let bytes = 0;
  for await (const piece of response) bytes += piece.length;
  take(await tell('end'));
  if (response.statusCode >= 500)
    throw new Mismatch(`${path}: Expected an answer, got ${response.statusCode}.`);
  return bytes;
};

/** Sends it over a socket. */
const say: Send = async (url, { path, before = [], isBinary = false }, body, tell, take) => {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { perMessageDeflate: false, maxPayload: 0 });
  await once(socket, 'open');
  const answerTo = async (message: string | Buffer, binary = false): Promise<Buffer> => {
    socket.send(message, { binary });
    const [answer] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
    if (typeof answer === 'number') throw new Mismatch(`${path}: Expected an answer, got a close ${answer}.`);
    return answer as Buffer;
  };
  for (const message of before) await answerTo(message);
  await tell('begin');
  const answer = await answerTo(body, isBinary);
  take(await tell('end'));
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
    'longest piece ms',
    'added MiB',
    'times the body',
  ];
  const lines = figures.map(({ path, what, bodyBytes, answerBytes, cpuMs, longestMs, addedBytes }) => [
    ...[what, path, digits(bodyBytes / MIB, 1), digits(answerBytes / MIB, 1), digits(cpuMs / 1000, 2)],
    digits(longestMs, 0),
    addedBytes === null ? '-' : digits(addedBytes / MIB, 0),
    addedBytes === null ? '-' : digits(addedBytes / bodyBytes, 1),
  ]);
  return table(head, lines, 2);
}
