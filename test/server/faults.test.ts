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
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

it('frees the session of a socket that answers no ping', async () => {
  const server = await startServer({ pingMs: 500 });
  const session = await new CheckedSession(await connect(server), 8).begin();
  const socket = await rawSocket(server.port);
  const closed = once(socket, 'close');
  socket.write(rawFrame(RESET));
  expect((await once(socket, 'data')).toString()).toContain('observation');
  socket.resume();
  await closed;
  await metricBecomes(server, SESSIONS, 1);
  await session.step();
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

const unusualFrames: [what: string, frames: Buffer[], answer: RegExp | null][] = [
  ['invalid JSON', [rawFrame('}{')], /INVALID_JSON/],
  ['an empty frame', [rawFrame('')], /INVALID_JSON/],
  ['a binary frame', [rawFrame(Buffer.from([0, 255, 3]), { opcode: 2 })], /a binary one.*INVALID_JSON/],
  ['a message of another type', [rawFrame('{"type":"fly"}')], /fly.*UNKNOWN_TYPE/],
  ['a type that is not text', [rawFrame('{"type":{"a":[]}}')], /UNKNOWN_TYPE/],
  ['a type that is a property of every object', [rawFrame('{"type":"constructor"}')], /UNKNOWN_TYPE/],
  ['a long type', [rawFrame(`{"type":"${'x'.repeat(5000)}"}`)], /type: x{100}".*UNKNOWN_TYPE/],
  ['the key __proto__', [rawFrame('{"type":"state","__proto__":{}}')], /VALIDATION_ERROR/],
  ['data of another type', [rawFrame('{"type":"step","data":[1]}')], /VALIDATION_ERROR/],
  [
    'an infinite belief',
    [rawFrame('{"type":"step","data":{"action_type":"sleep","belief":[1e999,0,0]}}')],
    /VALIDATION_ERROR.*belief/,
  ],
  [
    'a text instead of a number',
    [rawFrame('{"type":"reset","data":{"seed":"x","profile":3}}')],
    /VALIDATION_ERROR.*seed/,
  ],
  ['a seed beyond u32', [rawFrame('{"type":"reset","data":{"seed":4294967296}}')], /less_than_equal/],
  [
    'a fragmented message',
    [rawFrame('{"type":', { fin: false }), rawFrame('"state"}', { opcode: 0 })],
    /step_count/,
  ],
  ['deep nesting', [rawFrame('['.repeat(60_000))], /VALIDATION_ERROR.*at most 4096 lists/],
  ['nesting without an end', [rawFrame('['.repeat(4000))], /INVALID_JSON/],
  ['a list', [rawFrame('[]')], /SESSION_ERROR/],
  // These violate the WebSocket protocol or exceed its limits, so the socket is closed without an answer.
  ['text that is not UTF-8', [rawFrame(Buffer.from([0xff, 0xfe]))], null],
  ['a frame without a mask', [rawFrame('{}', { masked: false })], null],
  ['an invalid opcode', [rawFrame('{}', { opcode: 3 })], null],
  ['a continuation without a beginning', [rawFrame('{}', { opcode: 0 })], null],
  [
    'a frame that is too large',
    Array.from({ length: 3 }, (_, k) =>
      rawFrame('x'.repeat(60_000), { fin: false, opcode: k === 0 ? 1 : 0 }),
    ),
    null,
  ],
];
it.each(unusualFrames)('other sessions survive a client that sends %s', async (_, frames, answer) => {
  const server = await startServer({ frameLimit: 100_000 });
  const session = await new CheckedSession(await connect(server), 9).begin();
  const socket = await rawSocket(server.port);
  for (const frame of frames) socket.write(frame);
  if (answer === null) await once(socket.resume(), 'close');
  else expect((await once(socket, 'data')).toString()).toMatch(answer);
  for (let k = 0; k < 3; k++) await session.step();
  socket.destroy();
  await metricBecomes(server, SESSIONS, 1);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
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

it('answers CAPACITY_REACHED at full capacity, and accepts a session after another session has closed', async () => {
  const server = await startServer({ capacity: 2 });
  const [first, second, third] = [await connect(server), await connect(server), await connect(server)];
  await first.request(RESET);
  await second.request(RESET);
  const { type, data } = await third.request(RESET);
  expect([type, data]).toMatchObject([
    'error',
    { code: 'CAPACITY_REACHED', active_sessions: 2, max_sessions: 2 },
  ]);
  expect((await third.closed).code).toBe(1000);
  first.socket.send('{"type":"close"}');
  await first.closed;
  expect((await (await connect(server)).request(RESET)).type).toBe('observation');
});

it('plays 50 sessions at a time, each with its own episode', async () => {
  const server = await startServer();
  const sessions = await Promise.all(
    Array.from({ length: 50 }, async (_, k) => new CheckedSession(await connect(server), 1000 * k).begin()),
  );
  for (let t = 0; t < 30; t++) {
    await Promise.all(sessions.filter((_, k) => (k + t) % 3 > 0).map((session) => session.step()));
  }
  expect(await metric(server, SESSIONS)).toBe(50);
});

it('refuses a body that is too large, with or without a content-length', async () => {
  const server = await startServer({ bodyLimit: 100_000 });
  const large = JSON.stringify({ seeds: Array(40_000).fill(1234) });
  const withLength = await sendRequest(server, 'POST', '/v1/score', large);
  expect([withLength.status, withLength.body.detail]).toEqual([
    413,
    expect.stringContaining('at most 100000 bytes'),
  ]);
  const chunked = await fetch(`${server.url}/v1/score`, {
    method: 'POST',
    body: new Blob([large]).stream(),
    duplex: 'half',
  } as RequestInit).then(
    ({ status }) => status,
    () => 'cut off',
  );
  expect([413, 'cut off']).toContain(chunked);
  expect((await sendRequest(server, 'GET', '/health')).status).toBe(200);
});

it('refuses a body of millions of lists while a session steps, and a body of too many rows', async () => {
  const server = await startServer();
  const session = await new CheckedSession(await connect(server), 5).begin();
  const pending = sendRequest(server, 'POST', '/v1/score', `[${'[],'.repeat(2 ** 22)}[]]`);
  for (let k = 0; k < 10; k++) await session.step();
  const { status, body } = await pending;
  expect([status, body.detail[0].type]).toEqual([422, 'dict_type']);
  const rows = await sendRequest(server, 'POST', '/v1/score', {
    seeds: Array(2 ** 20 + 1).fill(0),
    action_histories: [],
  });
  expect([rows.status, rows.body.detail[0].type]).toEqual([422, 'too_long']);
  await session.step();
});

it('a small batch does not wait for all of three large batches', async () => {
  const server = await startServer();
  const score = (rows: number) =>
    sendRequest(server, 'POST', '/v1/score', {
      seeds: Array(rows).fill(1),
      action_histories: Array(rows).fill(['sleep', 'sleep', 'sleep', 'sleep', 'sleep']),
      actions: Array(rows).fill('learn'),
      scores: ['total'],
    });
  const finished: string[] = [];
  const large = [1, 2, 3].map(async (k) => {
    const { body } = await score(60_000);
    expect([body.rows, new Set(body.scores.total).size]).toEqual([60_000, 1]);
    finished.push(`large ${k}`);
  });
  await score(10);
  finished.push('small');
  await Promise.all(large);
  expect(finished.indexOf('small')).toBeLessThan(3);
});

it('stops scoring for a client that disconnects', async () => {
  const server = await startServer();
  const rows = 60_000;
  const body = JSON.stringify({
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill(['sleep']),
    actions: Array(rows).fill('learn'),
  });
  const abort = new AbortController();
  const pending = fetch(`${server.url}/v1/score`, { method: 'POST', body, signal: abort.signal });
  pending.catch(() => {});
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  abort.abort();
  await expect(pending).rejects.toThrow();
  await metricBecomes(server, 'rhythm_vec_batch_requests', 0);
  expect(await metric(server, 'rhythm_vec_scored_rows_total')).toBe(0);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

it('shutting down finishes requests, and closes sockets with code 1001', async () => {
  const server = await startServer();
  const client = await connect(server);
  await client.request(RESET);
  const rows = 20_000;
  const columns = {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    actions: Array(rows).fill(0),
  };
  const scored = sendRequest(server, 'POST', '/v1/score', columns);
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  await server.close(60_000);
  expect((await scored).body.rows).toBe(rows);
  expect(await client.closed).toEqual({ code: 1001, reason: 'the server is shutting down' });
  await expect(connect(server)).rejects.toThrow();
});
