/** A server in a process of its own, after all that clients can do to it: no slot is lost, and memory comes back. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { othersTurn } from '../src/vec-env/turns.js';
import { type Running, startCli } from './support/cli.js';
import { rawFrame, rawSocket } from './support/raw-socket.js';
import { connect, metric, metricBecomes, Witness } from './support/server.js';

const RESET = '{"type":"reset","data":{"seed":1}}';
const SESSIONS = 'rhythm_vec_sessions';
const MIB = 2 ** 20;

let running: Running;
let server: { url: string; port: number };
beforeAll(async () => {
  running = startCli(['serve', '--port', '0', '--ping', '1', '--body-limit', '1'], {
    // With room for new objects that does not grow with the load, what is resident tells what is kept.
    NODE_OPTIONS: `--max-semi-space-size=2 --import=tsx --import=${new URL('support/collecting.ts', import.meta.url)}`,
  });
  const [url] = await running.until('stdout', /http:\S+/);
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

let asked = 0;

/** What the server has when its garbage is collected, in bytes. */
interface Level {
  /** Objects and buffers. */
  readonly held: number;
  readonly resident: number;
}

async function memory(): Promise<Level> {
  asked += 1;
  running.child.kill('SIGUSR2');
  const [, json] = await running.until('stderr', new RegExp(`^collected ${asked} (.*)\n`, 'm'));
  const { heapUsed, external, rss } = JSON.parse(json) as NodeJS.MemoryUsage;
  return { held: heapUsed + external, resident: rss };
}

async function round(visits: number): Promise<void> {
  await comeAndGo(visits);
  await neverRead();
  for (let k = 0; k < 10; k++) await tooLarge();
  await metricBecomes(server, SESSIONS, 1);
}

/** After each of so many times all that clients can do. */
async function levels(rounds: number): Promise<Level[]> {
  const found: Level[] = [];
  for (let k = 0; k < rounds; k++) {
    await round(10_000);
    found.push(await memory());
  }
  return found;
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
  // Code that is compiled on the way and caches are part of the level: it is reached after about so many.
  const [warm, ...later] = await levels(4);
  playing = false;
  expect(await played).toBeGreaterThan(100);
  const found = JSON.stringify({ warm, later });
  // What is lost stays lost; pages that are given back late are there in some levels only.
  expect(Math.max(...later.map(({ held }) => held)) / warm.held, found).toBeLessThan(1.05);
  expect(Math.min(...later.map(({ resident }) => resident)) / warm.resident, found).toBeLessThan(1.1);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});
