/** rhythm_vec.Client with several servers: failover, least load, and results equal to those of one server. */
import { describe, expect, it, test } from 'vitest';
import {
  answering,
  type Behaviour,
  type Call,
  type CallResults,
  callClient,
  faultyServer,
  whyAbsent,
} from '../support/python-client.js';
import { startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`several servers for Python: NOT TESTED here: ${absent}`, () => {});

const score = { seeds: [7], action_histories: [[]], actions: ['sleep'], scores: ['total'] };
const seeds = Array.from({ length: 5000 }, (_, i) => i);
/** A batch with invalid rows. The client sends it to two servers in eight parts (_PARTS_PER_SERVER is 4). */
const large = {
  seeds: seeds.map((seed) => (seed % 900 === 899 ? -1 : seed)),
  action_histories: seeds.map((seed) => (seed % 3 === 0 ? ['sleep', 'deep_work'] : [])),
  completions: seeds.map((seed) => `${seed % 10} 5 5 ${seed % 7 === 0 ? 'fly' : 'SLEEP'}`),
  parsed: true,
};
const closeConnection: Behaviour = (request) => request.socket.destroy();

/** Makes calls with two servers that have the given behaviours. Also returns their URLs and numbers of requests. */
async function callBoth(
  behaviours: readonly [readonly Behaviour[], readonly Behaviour[]],
  calls: readonly Call[],
  backoff = {},
): Promise<CallResults & { requests: number[]; urls: string[] }> {
  const real = await startServer();
  const servers = await Promise.all(behaviours.map((each) => faultyServer(real, ...each)));
  const urls = servers.map(({ url }) => url);
  const answer = await callClient({ url: urls, backoff }, ...calls);
  return { ...answer, requests: servers.map(({ requests }) => requests()), urls };
}

/** Returns the URL of a server that has stopped. */
async function deadUrl(): Promise<string> {
  const server = await startServer();
  await server.close();
  return server.url;
}

describe.runIf(absent === null)('with several servers', () => {
  it('results equal those of one server, and each server computes parts', async () => {
    const { url } = await startServer();
    const one = await callClient({ url }, { score: large });
    const { results, requests } = await callBoth([[], []], [{ score: large }]);
    expect(results).toEqual(one.results);
    expect(results[0].faults!.map(({ index }) => index)).toEqual([899, 1799, 2699, 3599, 4499]);
    expect(requests[0] + requests[1]).toBe(8);
    expect(Math.min(...requests)).toBeGreaterThan(0);
  });

  it('a request goes to the server with the fewest unanswered requests', async () => {
    let release = (_: 'forward'): void => {};
    const held = new Promise<'forward'>((resolve) => {
      release = resolve;
    });
    const releasing = async () => {
      release('forward');
      return 'forward';
    };
    const { results, requests } = await callBoth(
      [[() => held], [...Array(6).fill(null), releasing]],
      [{ score: large }],
    );
    expect(results[0].rows).toBe(5000);
    expect(requests).toEqual([1, 7]);
  });

  it('servers take turns with single requests', async () => {
    const { requests, waits } = await callBoth([[], []], Array(6).fill({ score }));
    expect([requests, waits]).toEqual([[3, 3], []]);
  });

  it('threads share a client', async () => {
    const calls: Call[] = seeds.slice(0, 8).map((seed) => ({ score: { ...score, seeds: [seed] } }));
    const { url } = await startServer();
    const one = await callClient({ url }, ...calls);
    const { results, requests } = await callBoth([[], []], [{ parallel: calls }]);
    expect(results[0].results).toEqual(one.results);
    expect(requests[0] + requests[1]).toBe(8);
    expect(Math.min(...requests)).toBeGreaterThan(0);
  });

  it('a server that fails is left out, and tried again later', async () => {
    const calls = [{ score }, { score }, { score }, { advance: 0.5 }, { score }];
    const { results, requests, waits } = await callBoth([[closeConnection], []], calls);
    for (const at of [0, 1, 2, 4]) expect(results[at].scores!.total).toHaveLength(1);
    expect([requests, waits]).toEqual([[2, 3], []]);
  });

  it('a server is left out for longer after each failure, and as long as Retry-After says', async () => {
    const busy = answering(503, { 'retry-after': '30' });
    const round = (seconds: number): Call[] => [{ advance: seconds }, { score }];
    const { requests, waits } = await callBoth(
      [[closeConnection, closeConnection, busy], []],
      [{ score }, ...round(0.5), ...round(0.9), ...round(0.1), ...round(29), ...round(1)],
    );
    // The first server gets call 1, and calls 2, 4 and 6 after it was left out for 0.5, 1 and 30 s.
    expect([requests, waits]).toEqual([[4, 5], []]);
  });

  it('a server that does not listen is not an error while another server listens', async () => {
    const { url } = await startServer();
    const { results, waits } = await callClient({ url: [await deadUrl(), url] }, { score }, { score: large });
    expect(results.map(({ rows }) => rows)).toEqual([1, 5000]);
    expect(waits).toEqual([]);
  });

  it('a large batch survives a server that fails while it computes', async () => {
    const { url } = await startServer();
    const one = await callClient({ url }, { score: large });
    const { results, waits } = await callBoth(
      [[null, ...Array(20).fill(closeConnection)], []],
      [{ score: large }],
    );
    expect(results).toEqual(one.results);
    expect(waits).toEqual([]);
  });

  it('if all servers fail, an error names them: at once if none ever listened, else after the last attempt', async () => {
    const urls = [await deadUrl(), await deadUrl()];
    const unreached = await callClient({ url: urls }, { score });
    expect(unreached.results[0].message).toMatch(
      new RegExp(`^Expected a rhythm-vec server at ${urls[0]} or ${urls[1]}, got .*1 attempt\\)`),
    );
    expect(unreached.waits).toEqual([]);

    const busy = answering(503, { 'retry-after': '3' });
    const both = await callBoth([Array(9).fill(busy), Array(9).fill(closeConnection)], [{ score }], {
      attempts: 3,
    });
    expect(both.results[0].error).toBe('ServerUnavailableError');
    expect(both.results[0].message).toContain(`Retry-After: 3 from ${both.urls[0]}; `);
    expect(both.results[0].message).toMatch(/3 attempts/);
    expect(both.waits).toEqual([0.5, 1]);
  });

  it('a refused request is not sent to another server', async () => {
    const { results, requests } = await callBoth([[answering(401)], []], [{ score }]);
    expect(results[0]).toMatchObject({ error: 'RefusedError', message: expect.stringContaining('got 401') });
    expect(requests).toEqual([1, 0]);
  });

  it('different worlds in one batch are an error', async () => {
    const rows = {
      seeds: seeds.slice(0, 1024),
      action_histories: Array(1024).fill([]),
      actions: Array(1024).fill(0),
    };
    const other = { world_digest: 'w', faults: [], scores: { total: Array(512).fill(1) } };
    const body = JSON.stringify(other);
    const { results, urls } = await callBoth(
      [[], [answering(200, {}, body), answering(200, {}, body)]],
      [{ score: { ...rows, scores: ['total'] } }],
    );
    expect(results[0].error).toBe('RhythmError');
    expect(results[0].message).toMatch(
      /^Expected servers of the same world, got .*and.*w from.*same release/,
    );
    expect(results[0].message).toContain(urls[1]);
  });

  it.each([
    ['no URLs', [], /at least one server, got none/],
    [
      'an invalid URL among others',
      ['http://127.0.0.1:9', 'localhost'],
      /url to be like http.*got 'localhost'/,
    ],
  ])('refuses %s', async (_, url, message) => {
    await expect(callClient({ url }, { score })).rejects.toThrow(message);
  });
});
