/** Tests the queue of batch requests: turns by client, limits, deadlines, and clients that disconnect. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { BusyError, FairQueue } from '../../src/server/fair-queue.js';
import type { RunningServer } from '../../src/server/server.js';
import { metricBecomes, sendRequest, startServer } from '../support/server.js';

const WORKING = 'rhythm_vec_batch_requests';
const WAITING = 'rhythm_vec_batch_waiting';
const EMPTY = { seeds: [], action_histories: [], actions: [] };
const NEVER = new AbortController().signal;

it('admits the clients in turns, and the requests of each in order', async () => {
  const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
  await fc.assert(
    fc.asyncProperty(fc.array(oneOf('a', 'b', 'c'), { maxLength: 30 }), async (clients) => {
      const queue = new FairQueue({ working: 1, waiting: 30, waitMs: 60_000 });
      await queue.enter('first', NEVER);
      const admitted: [string, number][] = [];
      const all = clients.map(async (client, k) => {
        await queue.enter(client, NEVER);
        admitted.push([client, k]);
        queue.leave();
      });
      queue.leave();
      await Promise.all(all);
      // Round n has the n-th request of every client, in the order of the clients' first requests.
      const nth = clients.map((client, k) => clients.slice(0, k).filter((each) => each === client).length);
      const order = [...new Set(clients)];
      const expected = clients
        .map((client, k): [string, number] => [client, k])
        .sort(([x, i], [y, j]) => nth[i] - nth[j] || order.indexOf(x) - order.indexOf(y));
      expect(admitted).toEqual(expected);
      expect([queue.working, queue.waiting]).toEqual([0, 0]);
    }),
  );
});

it('refuses requests beyond the limit, after the deadline, and while it drains', async () => {
  const queue = new FairQueue({ working: 1, waiting: 1, waitMs: 10 });
  await queue.enter('a', NEVER);
  const late = queue.enter('a', NEVER);
  await expect(queue.enter('b', NEVER)).rejects.toThrow(
    'Expected fewer than 2 requests of /v1, got 1 in progress and 1 that wait.',
  );
  await expect(late).rejects.toThrow(/^Expected the request to begin within 10 ms, but 1 other requests/);
  const waiting = queue.enter('b', NEVER);
  queue.drain();
  await expect(queue.enter('c', NEVER)).rejects.toThrow(BusyError);
  queue.leave();
  await waiting;
  expect([queue.working, queue.waiting]).toEqual([1, 0]);
});

it('Retry-After is estimated from the time between ends of requests; times when none waits do not count', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const queue = new FairQueue({ working: 1, waiting: 1, waitMs: 60_000 });
  await queue.enter('a', NEVER);
  vi.advanceTimersByTime(7_200_000);
  queue.leave();
  await queue.enter('a', NEVER);
  const waiting = queue.enter('a', NEVER);
  await expect(queue.enter('b', NEVER)).rejects.toMatchObject({ retryAfter: 1 });
  vi.advanceTimersByTime(5000);
  queue.leave();
  await waiting;
  const last = queue.enter('a', NEVER);
  await expect(queue.enter('b', NEVER)).rejects.toMatchObject({ retryAfter: 5 });
  queue.leave();
  await last;
});

it('a client that disconnects leaves the queue', async () => {
  const queue = new FairQueue({ working: 1, waiting: 9, waitMs: 60_000 });
  await queue.enter('a', NEVER);
  const gone = new AbortController();
  const waiting = queue.enter('b', gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(queue.enter('b', gone.signal)).rejects.toThrow('gone');
  expect([queue.working, queue.waiting]).toEqual([1, 0]);
});

/** Begins a request whose body never ends: it stays in progress until its socket is destroyed. */
async function occupy(server: RunningServer): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  await metricBecomes(server, WORKING, 1);
  return socket;
}

it('a request that waited for its turn gets the usual answer', async () => {
  const server = await startServer({ batchRequests: 1 });
  const first = await occupy(server);
  const scored = sendRequest(server, 'POST', '/v1/score', EMPTY);
  const parsed = sendRequest(server, 'POST', '/v1/parse', { completions: ['SLEEP'] });
  await metricBecomes(server, WAITING, 2);
  first.destroy();
  expect([(await scored).status, (await parsed).body.rows]).toEqual([200, 1]);
  await metricBecomes(server, WORKING, 0);
});

it('X-Client-Id identifies the client of a request', async () => {
  const server = await startServer({ batchRequests: 1 });
  const first = await occupy(server);
  const order: string[] = [];
  const send = async (client: string) => {
    const { status } = await sendRequest(server, 'POST', '/v1/score', EMPTY, { 'x-client-id': client });
    order.push(client);
    expect(status).toBe(200);
  };
  const all: Promise<void>[] = [];
  for (const client of ['a', 'a', 'a', 'b']) {
    all.push(send(client));
    await metricBecomes(server, WAITING, all.length);
  }
  first.destroy();
  await Promise.all(all);
  expect(order.indexOf('b')).toBe(1);
});

it('the server answers 503 and Retry-After beyond the limit and after the deadline', async () => {
  const server = await startServer({ batchRequests: 1, batchQueue: 1, batchWaitMs: 1000 });
  const first = await occupy(server);
  const late = fetch(`${server.url}/v1/score`, { method: 'POST', body: JSON.stringify(EMPTY) });
  await metricBecomes(server, WAITING, 1);
  const refused = await fetch(`${server.url}/v1/score`, { method: 'POST', body: '{}' });
  for (const [response, detail] of [
    [refused, /^Expected fewer than 2 requests of .v1, got 1 in progress and 1 that wait/],
    [await late, /^Expected the request to begin within 1000 ms, .*--batch-wait/],
  ] as const) {
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(((await response.json()) as { detail: string }).detail).toMatch(detail);
  }
  first.destroy();
});

it('a request leaves the queue when its client disconnects', async () => {
  const server = await startServer({ batchRequests: 1 });
  const first = await occupy(server);
  const pending = request(`${server.url}/v1/score`, { method: 'POST' });
  pending.on('error', () => {});
  pending.end(JSON.stringify(EMPTY));
  await metricBecomes(server, WAITING, 1);
  pending.destroy();
  await metricBecomes(server, WAITING, 0);
  first.destroy();
});

it('the server does not read the bodies of requests that wait', async () => {
  const server = await startServer({ batchRequests: 1 });
  const first = await occupy(server);
  const rows = 100_000;
  const body = JSON.stringify({
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    actions: Array(rows).fill(0),
    scores: [],
    padding: 'x',
  });
  const before = process.memoryUsage().arrayBuffers;
  const sockets = Array.from({ length: 50 }, () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    return socket;
  });
  await metricBecomes(server, WAITING, sockets.length);
  // All clients share one string as the body, so added memory is the server's. Of each body, which has 700 kB, the server reads
  // at most 64 KiB (docs/server.md). The bound of 256 KiB is chosen by hand.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(sockets.length * 2 ** 18);
  for (const socket of [first, ...sockets]) socket.destroy();
  await metricBecomes(server, WAITING, 0);
  await metricBecomes(server, WORKING, 0);
});
