/** Tests that a server process leaks neither sessions nor memory. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { type Running, startCli } from '../support/cli.js';
import { rawFrame, rawSocket } from '../support/raw-socket.js';
import { CheckedSession, connect, metric, metricBecomes } from '../support/server.js';

const RESET = '{"type":"reset","data":{"seed":1}}';
const SESSIONS = 'rhythm_vec_sessions';
const MIB = 2 ** 20;

let running: Running;
let server: { url: string; port: number };
beforeAll(async () => {
  running = startCli(['serve', '--port', '0', '--ping', '2', '--body-limit', '1'], {
    // A young generation of fixed size, so that resident memory depends only on live objects.
    NODE_OPTIONS: `--max-semi-space-size=2 --import=tsx --import=${new URL('../support/collect-garbage.ts', import.meta.url)}`,
  });
  const [url] = await running.until('stdout', /http:\S+/);
  server = { url, port: Number(new URL(url).port) };
});
afterAll(async () => {
  running.child.kill('SIGTERM');
  expect((await running.finished).code).toBe(0);
});

/**
 * Opens and closes clients, `atOnce` at a time: with and without a session, with and without a closing handshake. Another
 * session takes a step meanwhile.
 */
async function openAndCloseClients(session: CheckedSession, count: number, atOnce = 50): Promise<void> {
  const openAndClose = async (k: number): Promise<void> => {
    const client = await connect(server);
    if (k % 2 === 0) await client.request(RESET);
    if (k % 3 === 0) client.socket.terminate();
    else client.socket.close();
    await client.closed;
  };
  for (let k = 0; k < count; k += atOnce) {
    const clients = Array.from({ length: Math.min(atOnce, count - k) }, (_, i) => openAndClose(k + i));
    await Promise.all([session.step(), ...clients]);
  }
}

/**
 * Opens a client that sends and never reads, and returns its socket. The server stops reading from it. Since the client answers
 * no ping, the server then ends its session.
 */
async function sendWithoutReading(): Promise<Socket> {
  const socket = await rawSocket(server.port);
  socket.pause();
  socket.write(rawFrame(RESET));
  const frames = Buffer.concat(Array.from({ length: 1000 }, () => rawFrame('{"type":"state"}')));
  // The system buffers some megabytes for a client that does not read.
  while (!socket.destroyed && socket.writableLength < MIB) {
    socket.write(frames);
    await yieldTurn();
  }
  return socket;
}

async function sendTooLargeBody(): Promise<void> {
  const response = fetch(`${server.url}/v1/score`, { method: 'POST', body: new Uint8Array(2 * MIB) });
  // The connection may be cut before the answer is read.
  await response
    .then(({ status }) => expect(status).toBe(413))
    .catch((error) => expect(error).toBeInstanceOf(TypeError));
}

let collections = 0;

/** Memory of the server after garbage collection, in bytes. */
interface MemoryUse {
  /** Used by objects and buffers. */
  readonly used: number;
  readonly resident: number;
}

async function memory(): Promise<MemoryUse> {
  collections += 1;
  running.child.kill('SIGUSR2');
  const [, json] = await running.until('stderr', new RegExp(`^collected ${collections} (.*)\n`, 'm'));
  const { heapUsed, external, rss } = JSON.parse(json) as NodeJS.MemoryUsage;
  return { used: heapUsed + external, resident: rss };
}

async function round(session: CheckedSession, clients: number): Promise<void> {
  const [unread] = await Promise.all([sendWithoutReading(), session.step()]);
  await openAndCloseClients(session, clients);
  for (let k = 0; k < 10; k++) await Promise.all([session.step(), sendTooLargeBody()]);
  await metricBecomes(server, SESSIONS, 1);
  unread.destroy();
}

/** So many that three rounds raise the memory by more than 2 % if each client leaks 200 bytes. */
const CLIENTS = 1000;

/** Returns the memory after each of some rounds. */
async function memoryOverRounds(session: CheckedSession, rounds: number): Promise<MemoryUse[]> {
  const measured: MemoryUse[] = [];
  for (let k = 0; k < rounds; k++) {
    await round(session, CLIENTS);
    measured.push(await memory());
  }
  return measured;
}

it('rounds of 1,000 clients, a client that never reads and too large bodies leave the memory constant', async () => {
  // Each step of this session is compared with the reference.
  const session = await new CheckedSession(await connect(server), 70).begin();
  // The first two rounds also compile code and fill caches.
  const [, warm, ...later] = await memoryOverRounds(session, 5);
  const measured = JSON.stringify({ warm, later });
  expect(Math.max(...later.map(({ used }) => used)) / warm.used, measured).toBeLessThan(1.02);
  // A leak raises all later values. Pages that the system reclaims late raise only some of them.
  expect(Math.min(...later.map(({ resident }) => resident)) / warm.resident, measured).toBeLessThan(1.1);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});
