/** Tests the limits of connections, and how a server closes them. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { buildServer, type ServerParts } from '../../src/server/build-server.js';
import { type ServeOptions, toServeSettings } from '../../src/server/server-options.js';
import { rawSocket } from '../support/raw-socket.js';
import { metricBecomes, occupy, connect as open, sendRequest, startServer } from '../support/server.js';

const MINUTE_MS = 60_000;

/** Builds the parts of a server that does not listen, and frees them afterwards. */
function withParts<T>(options: ServeOptions, read: (parts: ServerParts) => T): T {
  const parts = buildServer(toServeSettings({ backend: 'reference', ...options }));
  try {
    return read(parts);
  } finally {
    for (const sockets of Object.values(parts.sockets)) void sockets.close(0);
    parts.free();
  }
}

it.each([
  ['as long as an idle session', {}, 15 * MINUTE_MS],
  ['a minute longer than a batch request may wait', { idleMs: 1000, batchWaitMs: 3000 }, MINUTE_MS + 3000],
])('a connection without a request stays open %s', async (_, options, idleMs) => {
  withParts(options, ({ server }) => {
    expect(server.keepAliveTimeout).toBe(idleMs);
    expect(server.timeout).toBe(idleMs);
  });
  const server = await startServer(options);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports: unknown[] = [];
  for (let k = 0; k < 2; k++) {
    const [response] = (await once(request(`${server.url}/metadata`, { agent }).end(), 'response')) as [
      IncomingMessage,
    ];
    expect(response.headers['keep-alive']).toBe(`timeout=${idleMs / 1000}`);
    ports.push(response.socket.localPort);
    await response.toArray();
  }
  expect(ports[1]).toBe(ports[0]);
  agent.destroy();
});

it('a server waits 20 seconds for the headers of a request, and 5 minutes for the whole request', () => {
  withParts({}, ({ server }) => {
    expect(server.headersTimeout).toBe(MINUTE_MS / 3);
    expect(server.requestTimeout).toBe(5 * MINUTE_MS);
    expect(server.keepAliveTimeout).toBeGreaterThan(server.requestTimeout);
  });
});

it('a server accepts as many connections as its capacity of sessions plus 1024', () => {
  withParts({ capacity: 7 }, ({ server }) => expect(server.maxConnections).toBe(7 + 1024));
  withParts({}, ({ server }) => expect(server.maxConnections).toBe(4096 + 1024));
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

it.each([
  ['is too large', 413, '/reset', { more: 'x'.repeat(2000) }],
  ['exceeds the limit of requests', 503, '/v1/prompts', { seeds: [], action_histories: [] }],
])(
  'a server refuses a request that %s, and announces that it closes the connection',
  async (_, status, path, body) => {
    const server = await startServer({ frameLimit: 1024, batchRequests: 1, batchQueue: 0 });
    const first = await occupy(server);
    const pending = request(server.url + path, { method: 'POST', agent: new Agent({ keepAlive: true }) });
    const [response] = (await once(pending.end(JSON.stringify(body)), 'response')) as [IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([status, 'close']);
    response.resume();
    first.destroy();
  },
);
