/** Tests single sockets (Connection), the limits of connections, and how a server closes them. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { buildServer } from '../../src/server/build-server.js';
import { type ServeOptions, toServeSettings } from '../../src/server/server-options.js';
import { type Answer, Connection } from '../../src/server/sockets/connection.js';
import { rawSocket } from '../support/raw-socket.js';
import { metricBecomes, occupy, connect as open, sendRequest, startServer } from '../support/server.js';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;

/** Opens a socket and returns both ends. The first answer waits for `settle`; the others follow at once. */
async function pair(end = () => {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const opened = once(client, 'open');
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  await opened;
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  let settle = (_: Answer): void => {};
  const first = new Promise<Answer>((resolve) => {
    settle = resolve;
  });
  const counts = { answers: 0 };
  const answer = () => (counts.answers++ === 0 ? first : { frame: 'done' });
  const connection = new Connection(socket, { answer, end }, (error) => {
    throw error;
  });
  /** Settles when the connection has received the frame. */
  const send = async (frame: string): Promise<void> => {
    const received = once(socket, 'message');
    client.send(frame);
    await received;
  };
  return { client, socket, connection, send, settle, counts };
}

it('marks its client as alive with every frame', async () => {
  const { connection, send } = await pair();
  for (let k = 0; k < 3; k++) {
    const before = connection.receivedAt;
    connection.alive = false;
    await send('x');
    expect(connection.receivedAt).toBeGreaterThan(before);
    expect(connection.alive).toBe(true);
  }
});

it.each([
  ['16 frames', Array<string>(16).fill('x')],
  ['frames of one MiB in all', ['x'.repeat(MIB - 1), 'x']],
])('pauses reading while %s wait', async (_, frames) => {
  const { client, socket, send, settle, counts } = await pair();
  let received = 0;
  const all = new Promise<void>((resolve) => {
    client.on('message', () => ++received === frames.length + 1 && resolve());
  });
  await send('the first frame, which does not wait');
  for (const frame of frames) {
    expect(socket.isPaused).toBe(false);
    await send(frame);
  }
  expect([socket.isPaused, counts.answers]).toEqual([true, 1]);
  settle({ frame: 'done' });
  await all;
  expect([socket.isPaused, counts.answers]).toEqual([false, frames.length + 1]);
});

it('answers the message in progress before it closes, and ends its handler once', async () => {
  let ends = 0;
  const { client, socket, connection, send, settle } = await pair(() => ends++);
  await send('x');
  connection.finish('the server is shutting down');
  const [message, closed] = [once(client, 'message'), once(client, 'close')];
  const ended = once(socket, 'close');
  settle({ frame: 'done' });
  expect(String((await message)[0])).toBe('done');
  const [code, reason] = await closed;
  await ended;
  expect([code, String(reason), ends]).toEqual([1001, 'the server is shutting down', 1]);
});

it('resumes reading when it closes a paused socket', async () => {
  const { client, socket, send, settle } = await pair();
  await send('close');
  for (let k = 0; k < 16; k++) await send('x');
  expect(socket.isPaused).toBe(true);
  const closed = once(client, 'close');
  settle({ frame: null, ends: true });
  expect((await closed)[0]).toBe(1000);
  expect(socket.isPaused).toBe(false);
});

it('answers no waiting frames after its client is gone, and ends its handler once', async () => {
  let ends = 0;
  const { client, socket, send, settle, counts } = await pair(() => ends++);
  for (let k = 0; k < 3; k++) await send('x');
  const closed = once(socket, 'close');
  client.terminate();
  await closed;
  settle({ frame: null });
  await yieldTurn();
  expect([counts.answers, ends]).toEqual([1, 1]);
});

it('limits the time and the number of connections', async () => {
  const limits: [options: ServeOptions, idleMs: number, connections: number][] = [
    [{}, 15 * MINUTE_MS, 4096 + 1024],
    // A minute longer than a batch request may wait.
    [{ idleMs: 1000, batchWaitMs: 3000, capacity: 7 }, MINUTE_MS + 3000, 7 + 1024],
  ];
  for (const [options, idleMs, connections] of limits) {
    const parts = buildServer(toServeSettings({ backend: 'reference', ...options }));
    const { keepAliveTimeout, timeout, headersTimeout, requestTimeout, maxConnections } = parts.server;
    expect([keepAliveTimeout, timeout, maxConnections]).toEqual([idleMs, idleMs, connections]);
    expect([headersTimeout, requestTimeout]).toEqual([MINUTE_MS / 3, 5 * MINUTE_MS]);
    for (const sockets of Object.values(parts.sockets)) void sockets.close(0);
    parts.free();
  }
});

it('answers the requests of a connection one after another, and says how long it stays open', async () => {
  const server = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports: unknown[] = [];
  for (let k = 0; k < 2; k++) {
    const [response] = (await once(request(`${server.url}/metadata`, { agent }).end(), 'response')) as [
      IncomingMessage,
    ];
    expect(response.headers['keep-alive']).toBe('timeout=900');
    ports.push(response.socket.localPort);
    await response.toArray();
  }
  expect(ports[1]).toBe(ports[0]);
  agent.destroy();
});

it('freeing a server closes the environments of requests and sessions', async () => {
  const parts = buildServer(toServeSettings({ backend: 'reference', port: 0 }));
  await once(parts.server.listen(0, '127.0.0.1'), 'listening');
  const { port } = parts.server.address() as AddressInfo;
  const client = await open({ port });
  parts.free();
  const closed = /Expected an open environment, got one that was closed/;
  const { status, body } = await sendRequest({ url: `http://127.0.0.1:${port}` }, 'POST', '/reset', {});
  expect([status, body.detail[0].msg]).toEqual([422, expect.stringMatching(closed)]);
  const { data } = await client.request('{"type":"reset"}');
  expect([data.code, data.message]).toEqual(['EXECUTION_ERROR', expect.stringMatching(closed)]);
  await Promise.all(Object.values(parts.sockets).map((sockets) => sockets.close(0)));
  parts.server.closeAllConnections();
  await once(parts.server.close(), 'close');
});

it('closing the server cuts off clients that do not close their socket or do not finish their request', {
  timeout: 15_000,
}, async () => {
  const server = await startServer();
  const silent = await rawSocket(server.port);
  const slow = connect(server.port, '127.0.0.1');
  slow.write('POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  await metricBecomes(server, 'rhythm_vec_sockets', 1);
  const closed = [silent, slow].map((socket) => once(socket.on('error', () => {}).resume(), 'close'));
  await server.close(10);
  await Promise.all(closed);
});

it('announces that it closes the connection of a request that is too large or that exceeds the limit of requests', async () => {
  const server = await startServer({ frameLimit: 1024, batchRequests: 1, batchQueue: 0 });
  const first = await occupy(server);
  for (const [status, path] of [
    [413, '/reset'],
    [503, '/v1/prompts'],
  ] as const) {
    const pending = request(server.url + path, { method: 'POST', agent: new Agent({ keepAlive: true }) });
    const body = JSON.stringify({ seeds: [], action_histories: [], more: 'x'.repeat(2000) });
    const [response] = (await once(pending.end(body), 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([status, 'close']);
    response.resume();
  }
  first.destroy();
});
