/** Tests the queue of batch requests: turns by client, limits, deadlines, slow bodies, and clients that disconnect. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { BusyError, FairQueue } from '../../src/server/fair-queue.js';
import { BodyMemory, LARGE, Scheduler } from '../../src/server/scheduler.js';
import type { RunningServer } from '../../src/server/server.js';
import { metric, metricBecomes, occupy, sendRequest, startServer } from '../support/server.js';

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

it('refuses new requests while it drains, and admits those that wait', async () => {
  const queue = new FairQueue({ working: 1, waiting: 2, waitMs: 60_000 });
  await queue.enter('a', NEVER);
  const waiting = queue.enter('b', NEVER);
  queue.drain();
  expect(() => queue.checkOpen()).toThrow(BusyError);
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
  await expect(queue.enter('b', NEVER)).rejects.toMatchObject({ headers: { 'retry-after': '1' } });
  vi.advanceTimersByTime(5000);
  queue.leave();
  await waiting;
  const last = queue.enter('a', NEVER);
  await expect(queue.enter('b', NEVER)).rejects.toMatchObject({ headers: { 'retry-after': '5' } });
  queue.leave();
  await last;
});

/**
 * Begins a request: the server has read its head when this resolves, since it answers 100 then.
 * @param length declared, in bytes. @param sent the beginning of the body. @param type of the body.
 */
async function beginBody({ port }: RunningServer, length: number, sent = '', type = 'json'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  const headers = [
    'Host: localhost',
    `Content-Type: application/${type}`,
    `Content-Length: ${length}`,
    'Expect: 100-continue',
  ];
  socket.write(`POST /v1/score HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${sent}`);
  expect(`${(await once(socket, 'data'))[0]}`).toContain('100 Continue');
  return socket;
}

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

it('a request leaves the queue when its client disconnects, or once its answer was sent', async () => {
  const server = await startServer({ batchRequests: 1 });
  const first = await occupy(server);
  const pending = request(`${server.url}/v1/score`, { method: 'POST' });
  pending.on('error', () => {});
  pending.end(JSON.stringify(EMPTY));
  const parsed = sendRequest(server, 'POST', '/v1/parse', { completions: ['SLEEP'] });
  await metricBecomes(server, WAITING, 2);
  pending.destroy();
  await metricBecomes(server, WAITING, 1);
  first.destroy();
  expect((await parsed).body.rows).toBe(1);
  await metricBecomes(server, WORKING, 0);
});

const MIB = 2 ** 20;
setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

it('a scheduler keeps no reference to the result of large work', async () => {
  const scheduler = new Scheduler({ working: 1, waiting: 0, waitMs: 1000 }, 0);
  const work = async () => new WeakRef(await scheduler.runLarge(LARGE, async () => new Uint8Array(8)));
  const result = await work();
  // A WeakRef keeps its object until the end of the turn.
  await yieldTurn();
  collect();
  expect(result.deref()).toBeUndefined();
});

/** Returns the bytes of all buffers in use. Buffers that earlier tests left do not count. */
function bufferBytes(): number {
  // The first collection frees the memory of buffers in the background; the second one waits until it is free.
  for (let k = 0; k < 2; k++) collect();
  return process.memoryUsage().arrayBuffers;
}

/** Returns a function that returns the number of bytes of bodies that servers of this test have read and keep. */
function countArrived(): () => number {
  const { read } = BodyMemory.prototype;
  let arrived = 0;
  const spy = vi.spyOn(BodyMemory.prototype, 'read').mockImplementation(function (
    this: BodyMemory,
    client,
    signal,
    readBody,
  ) {
    const counted: typeof readBody = (hold) =>
      readBody(async (bytes) => {
        await hold(bytes);
        arrived += bytes;
      });
    return read.call(this, client, signal, counted);
  });
  onTestFinished(() => spy.mockRestore());
  return () => arrived;
}

it('answers a large request while stalled bodies take the memory for bodies', async () => {
  const server = await startServer({ batchRequests: 1, batchQueue: 1, bodyLimit: MIB });
  const arrived = countArrived();
  // The limit is 2 MiB, of which each body takes what exceeds 64 KiB.
  for (let k = 0; k < 2; k++)
    await beginBody(server, MIB, `{"seeds":[${'1,'.repeat(MIB / 2)}`.slice(0, MIB - 1));
  await expect.poll(arrived).toBe(2 * (MIB - 1));
  const completions = Array(10).fill('x'.repeat(30_000));
  for (let k = 0; k < 3; k++) {
    const { status, body } = await sendRequest(server, 'POST', '/v1/parse', { completions });
    expect([status, body.rows]).toEqual([200, 10]);
  }
});

it('clients that stall within their bodies take no place, and memory only for the bytes that have arrived', async () => {
  const server = await startServer({ batchRequests: 1, batchQueue: 0 });
  const [before, arrived] = [bufferBytes(), countArrived()];
  const clients = 40;
  await Promise.all(Array.from({ length: clients }, () => beginBody(server, 64 * MIB, '', 'octet-stream')));
  // A 64th of one declared length.
  expect(bufferBytes() - before).toBeLessThan(MIB);
  await Promise.all(Array.from({ length: clients }, () => beginBody(server, 100, '{')));
  const half = await Promise.all(
    Array.from({ length: clients }, () => beginBody(server, 32 * MIB, 'x'.repeat(MIB + 10), 'octet-stream')),
  );
  await expect.poll(arrived).toBeGreaterThan(clients * MIB);
  // A buffer may be four times as large as what has arrived.
  expect(bufferBytes() - before).toBeLessThan(4 * clients * MIB);
  expect((await sendRequest(server, 'POST', '/v1/score', EMPTY)).status).toBe(200);
  expect([half.length, await metric(server, WORKING)]).toEqual([clients, 0]);
});

it('bodies beyond the limit are read one at a time; one that stalls is refused if another waits', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const memory = new BodyMemory(1000, { working: 9, waiting: 9, waitMs: 60_000 });
  const free = 2 ** 16;
  /** Reads a body whose bytes arrive when the test says so. */
  const open = () => {
    let hold!: (bytes: number) => Promise<void>;
    let end!: () => void;
    const read = memory.read('a', NEVER, async (take) => {
      hold = take;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    read.catch(() => {});
    return { hold, end, read };
  };
  const [small, first, second, third] = [open(), open(), open(), open()];
  await small.hold(free + 900);
  await first.hold(free + 200);
  // The first body is beyond the limit and alone: it may take its time.
  await vi.advanceTimersByTimeAsync(100_000);
  await first.hold(5000);
  const waits = [second.hold(free + 200), third.hold(free + 300)];
  expect(memory.waiting).toBe(2);
  await vi.advanceTimersByTimeAsync(20_000);
  await expect(first.read).rejects.toThrow(
    'Expected the rest of the body within 20 seconds, because other large requests of /v1 wait for memory, got less.',
  );
  await expect(first.hold(1)).rejects.toThrow(BusyError);
  await waits[0];
  expect(memory.waiting).toBe(1);
  second.end();
  const { free: freeSecond } = await second.read;
  // A body that has arrived waits for its batch: it is not refused, and the next one waits until its memory is free.
  await vi.advanceTimersByTimeAsync(30_000);
  expect(memory.waiting).toBe(1);
  freeSecond();
  await waits[1];
  // All but the small body are free: the next one is within the limit.
  third.end();
  (await third.read).free();
  await open().hold(free + 100);
  expect(memory.waiting).toBe(0);
});

it('the server reads few bodies of requests that wait', async () => {
  const server = await startServer({ batchRequests: 1, bodyLimit: 2 * MIB });
  const first = await occupy(server);
  const rows = 200_000;
  const body = JSON.stringify({
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    actions: Array(rows).fill(0),
    scores: [],
    padding: 'x',
  });
  const before = bufferBytes();
  const sockets = Array.from({ length: 50 }, () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.write(`POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    return socket;
  });
  await metricBecomes(server, WAITING, sockets.length);
  // All clients share one string as the body, so added memory is the server's. Of each body, which has 1.4 MB, the server reads
  // 64 KiB, and of all of them 6 MiB more (docs/server.md). The bound, with the buffers of Node, is chosen by hand.
  expect(bufferBytes() - before).toBeLessThan(sockets.length * 2 ** 19);
  for (const socket of [first, ...sockets]) socket.destroy();
  await metricBecomes(server, WAITING, 0);
  await metricBecomes(server, WORKING, 0);
});
