/** When python/rhythm_vec.py asks again and when it does not, by servers that misbehave; it waits in no test. */
import { describe, expect, it, test } from 'vitest';
import { answering, type Behaviour, callClient, faultyServer, whyAbsent } from '../support/python-client.js';
import { startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`the Python client's retries: NOT TESTED here: ${absent}`, () => {});

const score = { seeds: [7], action_histories: [[]], actions: ['sleep'], scores: ['total'] };
const hangUp: Behaviour = (request) => request.socket.destroy();
const never: Behaviour = () => {};
const busy = (after: string) => answering(503, { 'retry-after': after });

describe.runIf(absent === null)('what may go well the next time is asked again', () => {
  it('later each time, and not before the server wants it', async () => {
    const past = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const moods = [busy('3'), hangUp, answering(502), answering(429), busy(past), answering(504)];
    const server = await faultyServer(await startServer(), ...moods);
    const { results, waits } = await callClient({ url: server.url, backoff: { attempts: 7 } }, { score });
    expect(waits).toEqual([3, 1, 2, 4, 8, 16]);
    expect(server.requests()).toBe(7);
    expect(results[0].scores!.total).toHaveLength(1);
  });

  it('so long as there are tries left, and no wait is too long', async () => {
    const server = await faultyServer(await startServer(), busy('1'), busy('1'), busy('1'), busy('3600'));
    const backoff = { attempts: 3, first_s: 0.25, longest_s: 30 };
    const { results, waits } = await callClient({ url: server.url, backoff }, { score }, { score });
    expect(waits).toEqual([1, 1]);
    expect(results[0]).toMatchObject({
      error: 'ServerAwayError',
      message: expect.stringMatching(/Expected 200 from POST .*\/v1\/score, got 503 told so.*3 tries.*batch/),
    });
    expect(results[1].message).toMatch(/Retry-After: 3600 \(1 try\)/);
    expect(server.requests()).toBe(4);
  });

  it('waits are bounded, and each batch begins anew', async () => {
    const server = await faultyServer(await startServer(), ...Array(4).fill(hangUp), null, hangUp);
    const backoff = { first_s: 5, longest_s: 15 };
    const { waits } = await callClient({ url: server.url, backoff }, { score }, { score });
    expect(waits).toEqual([5, 10, 15, 15, 5]);
  });
});

const refusals: [status: number, says: RegExp][] = [
  [400, /got 400/],
  [401, /got 401.*RHYTHM_TOKEN/],
  [403, /got 403 Forbidden: told so The detail says what to change\.$/],
  [404, /got 404.*rhythm-vec server/],
  [413, /got 413.*--body-limit/],
  [500, /got 500/],
];

describe.runIf(absent === null)('what is as wrong the next time is not', () => {
  it.each(refusals)('%d', async (status, says) => {
    const server = await faultyServer(await startServer(), answering(status));
    const { results, waits } = await callClient({ url: server.url }, { score });
    expect(results[0]).toMatchObject({ error: 'RefusedError', message: expect.stringMatching(says) });
    expect(results[0].message).toMatch(/^Expected 200 and JSON from POST http.*told so/);
    expect([server.requests(), waits]).toEqual([1, []]);
  });

  it('a request that is none, with where it is wrong', async () => {
    const server = await faultyServer(await startServer());
    const wrong = { ...score, scores: ['beauty'] };
    const { results } = await callClient({ url: server.url }, { score: wrong });
    expect(results[0].message).toMatch(/got 422.*body\.scores\.0: /);
    expect(server.requests()).toBe(1);
  });

  it('a page of another server', async () => {
    const server = await faultyServer(await startServer(), answering(200, {}, '<html>Welcome</html>'));
    const { results } = await callClient({ url: server.url }, { score });
    expect(results[0].message).toMatch(/got invalid JSON: <html>Welcome/);
  });

  it('JSON of another server', async () => {
    const server = await faultyServer(await startServer(), answering(200, {}, '{"hello": 1}'));
    const { results } = await callClient({ url: server.url }, { score });
    expect(results[0]).toMatchObject({
      error: 'RhythmError',
      message: expect.stringMatching(/hello.*rhythm-vec server/),
    });
  });

  it.each([
    ['null', 'null'],
    ['scores of other rows', '{"world_digest": "w", "faults": [], "scores": {"total": []}}'],
    ['scores that are none', '{"world_digest": "w", "faults": [], "scores": {"total": [[1]]}}'],
    ['faults that are none', '{"world_digest": "w", "faults": [3], "scores": {"total": [1]}}'],
    [
      'a fault of no row',
      '{"world_digest": "w", "faults": [{"index": 1, "code": "a", "message": "b"}], "scores": {}}',
    ],
    ['lists in lists', `${'['.repeat(200_000)}`],
  ])('an answer that no score has: %s', async (_, body) => {
    const server = await faultyServer(await startServer(), answering(200, {}, body));
    const { results } = await callClient({ url: server.url }, { score });
    expect(results[0]).toMatchObject({
      error: expect.stringMatching(/^(RhythmError|RefusedError)$/),
      message: expect.stringMatching(/^Expected .*from POST http/),
    });
  });

  it.each(['127.0.0.1:8000', 'ws://127.0.0.1:8000', 'http://', 'http://127.0.0.1:80a', 'http://[::1'])(
    'a url that is none: %s',
    async (url) => {
      await expect(callClient({ url }, { score })).rejects.toThrow(
        /ValueError: Expected url to be like http:/,
      );
    },
  );
});

const seeds = Array.from({ length: 500 }, (_, i) => i);
const large = { seeds, action_histories: seeds.map(() => []), actions: seeds.map(() => 'sleep') };

describe.runIf(absent === null)('a large batch', () => {
  it('that the server finds too large is sent in halves, as small as need be', async () => {
    const { url } = await startServer({ bodyLimit: 1024 });
    const whole = await startServer();
    const [parts, once] = [
      await callClient({ url }, { score: large }),
      await callClient({ url: whole.url }, { score: large }),
    ];
    expect(parts.results[0].rows).toBe(500);
    expect(parts.results).toEqual(once.results);
  });

  it('is sent in parts of so many rows', async () => {
    const server = await faultyServer(await startServer());
    const { results } = await callClient({ url: server.url, row_limit: 125 }, { score: large });
    expect([results[0].rows, server.requests()]).toEqual([500, 4]);
    expect(results[0].scores!.total).toHaveLength(500);
  });
});

describe.runIf(absent === null)('a server that is away', () => {
  it('is an error that says what to do, after the last try', async () => {
    const server = await startServer();
    await server.close();
    const { results, waits } = await callClient({ url: server.url }, { score });
    expect(results[0].error).toBe('ServerAwayError');
    expect(results[0].message).toMatch(
      /Expected a rhythm-vec server at http:\/\/127.*, got ConnectionRefusedError.*6 tries.*`npx rhythm-vec serve`/,
    );
    expect(waits).toEqual([0.5, 1, 2, 4, 8]);
  });

  it('or that never answers', async () => {
    const server = await faultyServer(await startServer(), never, never);
    const { results } = await callClient(
      { url: server.url, timeout_s: 0.05, backoff: { attempts: 2 } },
      { score },
    );
    expect(results[0].message).toMatch(/timed? ?out.*2 tries/i);
  });
});
