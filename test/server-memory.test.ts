/** A server in a process of its own, after all that clients can do to it: no slot is lost, and memory comes back. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { othersTurn } from '../src/vec-env/turns.js';
import { type Running, startCli } from './support/cli.js';
import { rawFrame, rawSocket } from './support/raw-socket.js';
import { connect, metric, metricBecomes, Witness } from './support/server.js';

const RESET = '{"type":"reset","data":{"seed":1}}';
const SESSIONS = 'rhythm_vec_sessions';
const MEMORY = 'process_resident_memory_bytes';
const MIB = 2 ** 20;

let running: Running;
let server: { url: string; port: number };
beforeAll(async () => {
  running = startCli(['serve', '--port', '0', '--ping', '1', '--body-limit', '1']);
  const [line] = (await once(running.child.stdout, 'data')) as [string];
  const [url] = /http:\S+/.exec(line)!;
  server = { url, port: Number(new URL(url).port) };
});
afterAll(async () => {
  running.child.kill('SIGTERM');
  expect((await running.finished).code).toBe(0);
});

/** Clients that come and go, so many at a time: politely, abruptly, with a session and without. */
async function comeAndGo(count: number, atOnce = 50): Promise<void> {
  const visit = async (k: number): Promise<void> => {
    const client = await connect(server);
    if (k % 2 === 0) await client.say(RESET);
    if (k % 3 === 0) client.socket.terminate();
    else client.socket.close();
    await client.closed;
  };
  for (let k = 0; k < count; k += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - k) }, (_, i) => visit(k + i)));
  }
}

/** A client that asks and asks and never reads: until the server reads no more of it, which then drops it. */
async function neverRead(): Promise<void> {
  const socket = await rawSocket(server.port);
  socket.pause();
  socket.write(rawFrame(RESET));
  const asks = Buffer.concat(Array.from({ length: 1000 }, () => rawFrame('{"type":"state"}')));
  // What the system takes for a reader that does not read is some megabytes.
  while (!socket.destroyed && socket.writableLength < MIB) {
    socket.write(asks);
    await othersTurn();
  }
  // It answers no ping either.
  await metricBecomes(server, SESSIONS, 1);
  socket.destroy();
}

async function tooLarge(): Promise<void> {
  const asked = fetch(`${server.url}/v1/score`, { method: 'POST', body: new Uint8Array(4 * MIB) });
  // Whether the answer is read before the connection is cut is the system's choice.
  await asked
    .then(({ status }) => expect(status).toBe(413))
    .catch((error) => expect(error).toBeInstanceOf(TypeError));
}

async function round(visits: number): Promise<void> {
  await comeAndGo(visits);
  await neverRead();
  for (let k = 0; k < 10; k++) await tooLarge();
  await metricBecomes(server, SESSIONS, 1);
}

it('10,000 clients that come and go, one that never reads, and requests that are too large', async () => {
  const witness = await new Witness(await connect(server), 70).begin();
  let playing = true;
  const played = (async () => {
    for (let steps = 0; ; steps++) {
      if (!playing) return steps;
      await witness.step();
    }
  })();
  // Garbage that is not yet collected is part of the level: it is reached after about so many.
  await round(10_000);
  const warm = await metric(server, MEMORY);
  await round(10_000);
  const after = await metric(server, MEMORY);
  playing = false;
  expect(await played).toBeGreaterThan(100);
  expect(after / warm, `${after} of ${warm} bytes`).toBeLessThan(1.1);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});
