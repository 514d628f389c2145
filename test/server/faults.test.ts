/** Tests faults of clients: the server continues, and the answers to other clients do not change. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as timersRun } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { rawFrame, rawSocket } from '../support/raw-socket.js';
import {
  CheckedSession,
  connect,
  metric,
  metricBecomes,
  sendRequest,
  startServer,
} from '../support/server.js';

const SESSIONS = 'rhythm_vec_sessions';
const FAILURES = 'rhythm_vec_failures_total';
const RESET = '{"type":"reset","data":{"seed":1}}';
/** The first byte of a ping frame, and the opcode of its answer (RFC 6455, 5.2). */
const PING = 0x89;
const PONG = 10;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('frees the sessions of a client that is killed', async () => {
  const server = await startServer();
  const session = await new CheckedSession(await connect(server), 7).begin();
  const code = `
    import { WebSocket } from 'ws';
    for (let k = 0; k < 70; k++) {
      const socket = new WebSocket('ws://127.0.0.1:${server.port}/ws');
      socket.on('open', () => socket.send('${RESET}'));
      socket.on('message', () => socket.send('{"type":"step","data":{"action_type":"sleep"}}'));
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: ROOT,
    stdio: 'ignore',
  });
  await metricBecomes(server, SESSIONS, 71);
  for (let k = 0; k < 10; k++) await session.step();
  child.kill('SIGKILL');
  await once(child, 'exit');
  await metricBecomes(server, SESSIONS, 1);
  for (let k = 0; k < 40; k++) await session.step();
  expect(await metric(server, FAILURES)).toBe(0);
});

it('reads what a client has sent before it closes its socket as silent', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const pingMs = 1000;
  const server = await startServer({ pingMs });
  const socket = await rawSocket(server.port);
  vi.advanceTimersByTime(pingMs);
  expect((await once(socket, 'data'))[0][0]).toBe(PING);
  await timersRun();
  socket.write(rawFrame('', { opcode: PONG }));
  // As when timers run after a long computation: the next ping is due before the answer to the last one is read.
  vi.advanceTimersByTime(pingMs);
  socket.write(rawFrame(RESET));
  for await (const data of socket) if (data.includes('observation')) return;
  expect.unreachable('the server closed the socket');
});

it('closes the socket of an idle client', async () => {
  const server = await startServer({ idleMs: 100 });
  const idle = await connect(server);
  await idle.request(RESET);
  expect(await idle.closed).toEqual({ code: 1001, reason: 'idle for 100 ms' });
  await metricBecomes(server, SESSIONS, 0);
});

const unusualFrames: [what: string, answer: RegExp | null, ...frames: Buffer[]][] = [
  ['invalid JSON', /INVALID_JSON/, rawFrame('}{')],
  ['an empty frame', /INVALID_JSON/, rawFrame('')],
  ['a binary frame', /a binary one.*INVALID_JSON/, rawFrame(Buffer.from([0, 255, 3]), { opcode: 2 })],
  ['a message of another type', /fly.*UNKNOWN_TYPE/, rawFrame('{"type":"fly"}')],
  ['a type that is not text', /UNKNOWN_TYPE/, rawFrame('{"type":{"a":[]}}')],
  ['a type that every object inherits', /UNKNOWN_TYPE/, rawFrame('{"type":"constructor"}')],
  ['a long type', /type: x{100}".*UNKNOWN_TYPE/, rawFrame(`{"type":"${'x'.repeat(5000)}"}`)],
  ['the key __proto__', /VALIDATION_ERROR/, rawFrame('{"type":"state","__proto__":{}}')],
  ['data of another type', /VALIDATION_ERROR/, rawFrame('{"type":"step","data":[1]}')],
  [
    'an infinite belief',
    /VALIDATION_ERROR.*belief/,
    rawFrame('{"type":"step","data":{"action_type":"sleep","belief":[1e999,0,0]}}'),
  ],
  ['a seed that is text', /VALIDATION_ERROR.*seed/, rawFrame('{"type":"reset","data":{"seed":"x"}}')],
  ['a seed beyond u32', /less_than_equal/, rawFrame('{"type":"reset","data":{"seed":4294967296}}')],
  [
    'a fragmented message',
    /step_count/,
    rawFrame('{"type":', { fin: false }),
    rawFrame('"state"}', { opcode: 0 }),
  ],
  ['deep nesting', /VALIDATION_ERROR.*at most 4096 lists/, rawFrame('['.repeat(60_000))],
  ['nesting without an end', /INVALID_JSON/, rawFrame('['.repeat(4000))],
  ['a list', /SESSION_ERROR/, rawFrame('[]')],
  // These violate the WebSocket protocol or exceed its limits, so the socket is closed without an answer.
  ['text that is not UTF-8', null, rawFrame(Buffer.from([0xff, 0xfe]))],
  ['a frame without a mask', null, rawFrame('{}', { masked: false })],
  ['an invalid opcode', null, rawFrame('{}', { opcode: 3 })],
  ['a continuation without a beginning', null, rawFrame('{}', { opcode: 0 })],
  [
    'a frame that is too large',
    null,
    ...[1, 0, 0].map((opcode) => rawFrame('x'.repeat(60_000), { fin: false, opcode })),
  ],
];
it('other sessions survive clients that send unusual frames', async () => {
  const server = await startServer({ frameLimit: 100_000 });
  const session = await new CheckedSession(await connect(server), 9).begin();
  for (const [what, answer, ...frames] of unusualFrames) {
    const socket = await rawSocket(server.port);
    for (const frame of frames) socket.write(frame);
    if (answer === null) await once(socket.resume(), 'close');
    else expect(`${(await once(socket, 'data'))[0]}`, what).toMatch(answer);
    await session.step();
    socket.destroy();
  }
  await metricBecomes(server, SESSIONS, 1);
  expect(await metric(server, FAILURES)).toBe(0);
});

it('half a frame takes no session, and no memory for the bytes that it declares', async () => {
  const server = await startServer({ capacity: 1 });
  const before = process.memoryUsage().arrayBuffers;
  const halves = await Promise.all(
    ['/ws', '/v1/vec'].flatMap((path) =>
      Array.from({ length: 20 }, async () => {
        const socket = await rawSocket(server.port, path);
        const head = Buffer.alloc(14);
        head.set([0x82, 0x80 | 127]);
        head.writeBigUInt64BE(2n ** 20n, 2);
        // The answer to the first frame of /v1/vec shows that the server has read the second. A frame of /ws takes a session.
        socket.write(Buffer.concat([...(path === '/ws' ? [] : [rawFrame('{}')]), head, Buffer.alloc(1000)]));
        if (path !== '/ws') await once(socket, 'data');
        return socket;
      }),
    ),
  );
  await (await new CheckedSession(await connect(server), 3).begin()).step();
  // A quarter of what the frames declare.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((halves.length * 2 ** 20) / 4);
  for (const socket of halves) socket.destroy();
  await metricBecomes(server, 'rhythm_vec_sockets', 1);
});

it('answers frames that arrive together in the order in which they were sent', async () => {
  const client = await connect(await startServer());
  client.socket.send(RESET);
  for (let k = 0; k < 100; k++) {
    client.socket.send(k % 2 === 0 ? '{"type":"step","data":{"action_type":"learn"}}' : '{"type":"state"}');
  }
  const types: string[] = [];
  for (let k = 0; k <= 100; k++) types.push(JSON.parse((await client.next()).toString()).type);
  // 28 steps, then steps of an episode that is over.
  const expected = Array.from({ length: 100 }, (_, k) =>
    k % 2 ? 'state' : k < 56 ? 'observation' : 'error',
  );
  expect(types).toEqual(['observation', ...expected]);
});

it('plays 50 sessions at a time, each with its own episode', async () => {
  const server = await startServer();
  const sessions = await Promise.all(
    Array.from({ length: 50 }, async (_, k) => new CheckedSession(await connect(server), 1000 * k).begin()),
  );
  for (let t = 0; t < 30; t++)
    await Promise.all(sessions.filter((_, k) => (k + t) % 3 > 0).map((session) => session.step()));
});

it('sessions step while a body of millions of lists is refused', async () => {
  const server = await startServer();
  const session = await new CheckedSession(await connect(server), 5).begin();
  const pending = sendRequest(server, 'POST', '/v1/score', `[${'[],'.repeat(2 ** 21)}[]]`);
  for (let k = 0; k < 10; k++) await session.step();
  const { status, body } = await pending;
  expect([status, body.detail[0].type]).toEqual([422, 'dict_type']);
});

const columns = (rows: number) => ({
  seeds: Array(rows).fill(1),
  action_histories: Array(rows).fill(['sleep']),
  actions: Array(rows).fill('learn'),
  scores: ['total'],
});

it('a small batch does not wait for all of three large batches', async () => {
  const server = await startServer();
  const finished: string[] = [];
  const score = async (name: string, rows: number) => {
    const { body } = await sendRequest(server, 'POST', '/v1/score', columns(rows));
    expect([body.rows, new Set(body.scores.total).size]).toEqual([rows, 1]);
    finished.push(name);
  };
  const large = [1, 2, 3].map((k) => score(`large ${k}`, 60_000));
  await score('small', 10);
  await Promise.all(large);
  expect(finished.indexOf('small')).toBeLessThan(3);
});

it('stops scoring for a client that disconnects', async () => {
  const server = await startServer();
  const abort = new AbortController();
  const body = JSON.stringify(columns(60_000));
  const pending = fetch(`${server.url}/v1/score`, { method: 'POST', body, signal: abort.signal });
  pending.catch(() => {});
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  abort.abort();
  await expect(pending).rejects.toThrow();
  await metricBecomes(server, 'rhythm_vec_batch_requests', 0);
  expect(await metric(server, 'rhythm_vec_scored_rows_total')).toBe(0);
  expect(await metric(server, FAILURES)).toBe(0);
});
