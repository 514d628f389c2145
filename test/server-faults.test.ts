/** What clients do wrong, on purpose or not: the server stays up, and nobody else's answers change by a bit. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { rawFrame, rawSocket } from './support/raw-socket.js';
import { ask, connect, metric, metricBecomes, startServer, Witness } from './support/server.js';

const SESSIONS = 'rhythm_vec_sessions';
const RESET = '{"type":"reset","data":{"seed":1}}';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

it('a client that is killed in the middle of an episode gives its slots back', async () => {
  const server = await startServer();
  const witness = await new Witness(await connect(server), 7).begin();
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
  for (let k = 0; k < 10; k++) await witness.step();
  child.kill('SIGKILL');
  await once(child, 'exit');
  await metricBecomes(server, SESSIONS, 1);
  for (let k = 0; k < 40; k++) await witness.step();
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

it('a half-open socket, which answers no ping, gives its slot back', async () => {
  const server = await startServer({ pingMs: 50 });
  const witness = await new Witness(await connect(server), 8).begin();
  const socket = await rawSocket(server.port);
  const closed = once(socket, 'close');
  socket.write(rawFrame(RESET));
  expect((await once(socket, 'data')).toString()).toContain('observation');
  socket.resume();
  await closed;
  await metricBecomes(server, SESSIONS, 1);
  await witness.step();
});

it('a client that says nothing for too long is told to go, and others are not', async () => {
  const server = await startServer({ idleMs: 100 });
  const idle = await connect(server);
  await idle.say(RESET);
  expect(await idle.closed).toEqual({ code: 1001, reason: 'idle for 100 ms' });
  await metricBecomes(server, SESSIONS, 0);
});

const garbage: [what: string, frames: Buffer[], answer: RegExp | null][] = [
  ['no JSON', [rawFrame('}{')], /INVALID_JSON/],
  ['nothing', [rawFrame('')], /INVALID_JSON/],
  ['a binary frame', [rawFrame(Buffer.from([0, 255, 3]), { opcode: 2 })], /a binary one.*INVALID_JSON/],
  ['a message of another type', [rawFrame('{"type":"fly"}')], /fly.*UNKNOWN_TYPE/],
  ['a type that is no text', [rawFrame('{"type":{"a":[]}}')], /UNKNOWN_TYPE/],
  ['a type of every object', [rawFrame('{"type":"constructor"}')], /UNKNOWN_TYPE/],
  ['a prototype', [rawFrame('{"type":"state","__proto__":{}}')], /VALIDATION_ERROR/],
  ['data of another type', [rawFrame('{"type":"step","data":[1]}')], /VALIDATION_ERROR/],
  [
    'a belief that is none',
    [rawFrame('{"type":"step","data":{"action_type":"sleep","belief":[1e999,0,0]}}')],
    /VALIDATION_ERROR.*belief/,
  ],
  [
    'numbers for names',
    [rawFrame('{"type":"reset","data":{"seed":"x","profile":3}}')],
    /VALIDATION_ERROR.*seed/,
  ],
  ['a seed that is no u32', [rawFrame('{"type":"reset","data":{"seed":4294967296}}')], /less_than_equal/],
  [
    'a message in pieces',
    [rawFrame('{"type":', { fin: false }), rawFrame('"state"}', { opcode: 0 })],
    /step_count/,
  ],
  ['deep nesting', [rawFrame('['.repeat(60_000))], /INVALID_JSON/],
  ['a list', [rawFrame('[]')], /SESSION_ERROR/],
  // What breaks the protocol below ends the socket, without an answer.
  ['text that is no UTF-8', [rawFrame(Buffer.from([0xff, 0xfe]))], null],
  ['a frame without a mask', [rawFrame('{}', { masked: false })], null],
  ['an opcode that is none', [rawFrame('{}', { opcode: 3 })], null],
  ['a piece of nothing', [rawFrame('{}', { opcode: 0 })], null],
  [
    'a frame that is too large',
    Array.from({ length: 3 }, (_, k) =>
      rawFrame('x'.repeat(60_000), { fin: false, opcode: k === 0 ? 1 : 0 }),
    ),
    null,
  ],
];
it.each(garbage)('%s', async (_, frames, answer) => {
  const server = await startServer({ frameLimit: 100_000 });
  const witness = await new Witness(await connect(server), 9).begin();
  const socket = await rawSocket(server.port);
  for (const frame of frames) socket.write(frame);
  if (answer === null) await once(socket.resume(), 'close');
  else expect((await once(socket, 'data')).toString()).toMatch(answer);
  for (let k = 0; k < 3; k++) await witness.step();
  socket.destroy();
  await metricBecomes(server, SESSIONS, 1);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

it('frames that come all at once are answered in order, by one session', async () => {
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

it('over capacity the first frame is answered with CAPACITY_REACHED, and a slot that is given back is taken', async () => {
  const server = await startServer({ capacity: 2 });
  const [first, second, third] = [await connect(server), await connect(server), await connect(server)];
  await first.say(RESET);
  await second.say(RESET);
  const { type, data } = await third.say(RESET);
  expect([type, data]).toMatchObject([
    'error',
    { code: 'CAPACITY_REACHED', active_sessions: 2, max_sessions: 2 },
  ]);
  expect((await third.closed).code).toBe(1000);
  first.socket.send('{"type":"close"}');
  await first.closed;
  expect((await (await connect(server)).say(RESET)).type).toBe('observation');
});

it('more sessions than the batch began with are slots of one that grew, each with its own episode', async () => {
  const server = await startServer();
  const witnesses = await Promise.all(
    Array.from({ length: 150 }, async (_, k) => new Witness(await connect(server), 1000 * k).begin()),
  );
  for (let t = 0; t < 30; t++) {
    await Promise.all(witnesses.filter((_, k) => (k + t) % 3 > 0).map((witness) => witness.step()));
  }
  expect(await metric(server, SESSIONS)).toBe(150);
});

it('a request that is too large is refused, told in advance or not, and the server goes on', async () => {
  const server = await startServer({ bodyLimit: 100_000 });
  const large = JSON.stringify({ seeds: Array(40_000).fill(1234) });
  const told = await ask(server, 'POST', '/v1/score', large);
  expect([told.status, told.body.detail]).toEqual([413, expect.stringContaining('at most 100000 bytes')]);
  const chunked = await fetch(`${server.url}/v1/score`, {
    method: 'POST',
    body: new Blob([large]).stream(),
    duplex: 'half',
  } as RequestInit).then(
    ({ status }) => status,
    () => 'cut off',
  );
  expect([413, 'cut off']).toContain(chunked);
  expect((await ask(server, 'GET', '/health')).status).toBe(200);
});

it('a body of more lists than are read in a moment is refused, whatever its length', async () => {
  const server = await startServer();
  const witness = await new Witness(await connect(server), 5).begin();
  const asked = ask(server, 'POST', '/v1/score', `[${'[],'.repeat(2 ** 22)}[]]`);
  for (let k = 0; k < 10; k++) await witness.step();
  const { status, body } = await asked;
  expect([status, body.detail]).toEqual([413, expect.stringContaining('lists and objects')]);
  const rows = await ask(server, 'POST', '/v1/score', {
    seeds: Array(2 ** 20 + 1).fill(0),
    action_histories: [],
  });
  expect([rows.status, rows.body.detail[0].type]).toEqual([422, 'too_long']);
  await witness.step();
});

it('large batches take their turns, one at a time, and small ones do not wait for them', async () => {
  const server = await startServer();
  const score = (rows: number) =>
    ask(server, 'POST', '/v1/score', {
      seeds: Array(rows).fill(1),
      action_histories: Array(rows).fill(['sleep', 'sleep', 'sleep', 'sleep', 'sleep']),
      actions: Array(rows).fill('learn'),
      scores: ['total'],
    });
  const ended: string[] = [];
  const large = [1, 2, 3].map(async (k) => {
    const { body } = await score(60_000);
    expect([body.rows, new Set(body.scores.total).size]).toEqual([60_000, 1]);
    ended.push(`large ${k}`);
  });
  await score(10);
  ended.push('small');
  await Promise.all(large);
  expect(ended.indexOf('small')).toBeLessThan(3);
});

it('a client that goes while its batch is scored is not scored for', async () => {
  const server = await startServer();
  const rows = 60_000;
  const body = JSON.stringify({
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill(['sleep']),
    actions: Array(rows).fill('learn'),
  });
  const abort = new AbortController();
  const asked = fetch(`${server.url}/v1/score`, { method: 'POST', body, signal: abort.signal });
  asked.catch(() => {});
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  abort.abort();
  await expect(asked).rejects.toThrow();
  await metricBecomes(server, 'rhythm_vec_batch_requests', 0);
  expect(await metric(server, 'rhythm_vec_scored_rows_total')).toBe(0);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

it('more batches than the server takes are told when to come back', async () => {
  const server = await startServer({ batchRequests: 1 });
  const rows = 30_000;
  const columns = {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    actions: Array(rows).fill(0),
  };
  const first = ask(server, 'POST', '/v1/score', columns);
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  const response = await fetch(`${server.url}/v1/score`, { method: 'POST', body: '{}' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await first).status).toBe(200);
});

it('shutting down finishes what was asked, and says goodbye', async () => {
  const server = await startServer();
  const client = await connect(server);
  await client.say(RESET);
  const rows = 20_000;
  const columns = {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    actions: Array(rows).fill(0),
  };
  const scored = ask(server, 'POST', '/v1/score', columns);
  await metricBecomes(server, 'rhythm_vec_batch_requests', 1);
  await server.close(60_000);
  expect((await scored).body.rows).toBe(rows);
  expect(await client.closed).toEqual({ code: 1001, reason: 'the server is shutting down' });
  await expect(connect(server)).rejects.toThrow();
});
