/** Retries and large batches of the Python client. The tests record the waits instead of waiting. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, test } from 'vitest';
import { answering, type Behaviour, callClient, faultyServer, whyAbsent } from '../support/python-client.js';
import { startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`the Python client's retries: NOT TESTED here: ${absent}`, () => {});

const score = { seeds: [7], action_histories: [[]], actions: ['sleep'], scores: ['total'] };
const closeConnection: Behaviour = (request) => request.socket.destroy();
const noAnswer: Behaviour = () => {};
const busy = (retryAfter: string) => answering(503, { 'retry-after': retryAfter });

describe.runIf(absent === null)('temporary failures are retried', () => {
  it('with exponential back-off, at least as long as Retry-After', async () => {
    const pastDate = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const server = await faultyServer(
      await startServer(),
      busy('3'),
      closeConnection,
      answering(502),
      answering(429),
      // Not a number, although Python's isdigit accepts it.
      busy('\u00b2'),
      busy(pastDate),
      answering(504),
    );
    const { results, waits } = await callClient({ url: server.url, backoff: { attempts: 8 } }, { score });
    expect(waits).toEqual([3, 1, 2, 4, 8, 16, 32]);
    expect(server.requests()).toBe(8);
    expect(results[0].scores!.total).toHaveLength(1);
  });

  it('until no attempts are left, or the requested wait is too long', async () => {
    const server = await faultyServer(await startServer(), busy('1'), busy('1'), busy('1'), busy('3600'));
    const backoff = { attempts: 3, first_s: 0.25, longest_s: 30 };
    const { results, waits } = await callClient({ url: server.url, backoff }, { score }, { score });
    expect(waits).toEqual([1, 1]);
    expect(results[0]).toMatchObject({
      error: 'ServerUnavailableError',
      message: expect.stringMatching(
        /Expected 200 from POST .*\/v1\/score, got 503 details.*3 attempts.*batch/,
      ),
    });
    expect(results[1].message).toMatch(/Retry-After: 3600 \(1 attempt\)/);
    expect(server.requests()).toBe(4);
  });

  it('with bounded waits, which start again with each batch', async () => {
    const server = await faultyServer(
      await startServer(),
      ...Array(4).fill(closeConnection),
      null,
      closeConnection,
    );
    const backoff = { first_s: 5, longest_s: 15 };
    const { waits } = await callClient({ url: server.url, backoff }, { score }, { score });
    expect(waits).toEqual([5, 10, 15, 15, 5]);
  });
});

const permanent: [status: number, message: RegExp][] = [
  [400, /got 400/],
  [401, /got 401.*RHYTHM_TOKEN/],
  [403, /got 403 Forbidden: details The detail says what to change\.$/],
  [404, /got 404.*rhythm-vec server/],
  [413, /got 413.*--body-limit/],
  [500, /got 500/],
];

describe.runIf(absent === null)('permanent errors are not retried', () => {
  it.each(permanent)('status %d', async (status, message) => {
    const server = await faultyServer(await startServer(), answering(status));
    const { results, waits } = await callClient({ url: server.url }, { score });
    expect(results[0]).toMatchObject({ error: 'RefusedError', message: expect.stringMatching(message) });
    expect(results[0].message).toMatch(/^Expected 200 and JSON from POST http.*details/);
    expect([server.requests(), waits]).toEqual([1, []]);
  });

  it.each([
    ['{"detail": [{"loc": null, "msg": "No."}, {"msg": "Never."}]}', 'No.; Never.'],
    ['{"detail": [{"type": "extra", "loc": ["body", "n"]}]}', "{'type': 'extra', 'loc': ['body', 'n']}"],
    ['{"detail": null, "error": "No."}', '{"detail": null, "error": "No."}'],
  ])('with the message in a body of another shape: %s', async (body, expected) => {
    const server = await faultyServer(await startServer(), answering(400, {}, body));
    const { results } = await callClient({ url: server.url }, { score });
    expect(results[0].message).toContain(`got 400 Bad Request: ${expected} The detail`);
  });

  it('an invalid request, whose error names the invalid field', async () => {
    const server = await faultyServer(await startServer());
    const invalid = { ...score, scores: ['beauty'] };
    const { results } = await callClient({ url: server.url }, { score: invalid });
    expect(results[0].message).toMatch(/got 422.*body\.scores\.0: /);
    expect(server.requests()).toBe(1);
  });

  it('HTML of another server', async () => {
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
    ['scores of another number of rows', '{"world_digest": "w", "faults": [], "scores": {"total": []}}'],
    ['invalid scores', '{"world_digest": "w", "faults": [], "scores": {"total": [[1]]}}'],
    ['invalid faults', '{"world_digest": "w", "faults": [3], "scores": {"total": [1]}}'],
    [
      'a fault with an invalid index',
      '{"world_digest": "w", "faults": [{"index": 1, "code": "a", "message": "b"}], "scores": {}}',
    ],
    ['deeply nested lists', `${'['.repeat(200_000)}`],
  ])('an invalid answer: %s', async (_, body) => {
    const server = await faultyServer(await startServer(), answering(200, {}, body));
    const { results } = await callClient({ url: server.url }, { score });
    expect(results[0]).toMatchObject({
      error: expect.stringMatching(/^(RhythmError|RefusedError)$/),
      message: expect.stringMatching(/^Expected .*from POST http/),
    });
  });

  it.each(['127.0.0.1:8000', 'ws://127.0.0.1:8000', 'http://', 'http://127.0.0.1:80a', 'http://[::1'])(
    'an invalid URL: %s',
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
  it("above the server's limit is halved until its parts fit", async () => {
    const { url } = await startServer({ bodyLimit: 1024 });
    const unlimited = await startServer();
    const inParts = await callClient({ url }, { score: large });
    const inOneRequest = await callClient({ url: unlimited.url }, { score: large });
    expect(inParts.results[0].rows).toBe(500);
    expect(inParts.results).toEqual(inOneRequest.results);
  });

  it('above row_limit is sent in parts', async () => {
    const server = await faultyServer(await startServer());
    const { results } = await callClient({ url: server.url, row_limit: 125 }, { score: large });
    expect([results[0].rows, server.requests()]).toEqual([500, 4]);
    expect(results[0].scores!.total).toHaveLength(500);
  });
});

describe.runIf(absent === null)('an unavailable server', () => {
  const refusal = (attempts: string) =>
    new RegExp(
      `Expected a rhythm-vec server at http://127.*, got ConnectionRefusedError.*${attempts}.*\`npx rhythm-vec serve\``,
    );

  it('that refuses the first connection is an error with a remedy, without a retry', async () => {
    const server = await startServer();
    await server.close();
    const { results, waits } = await callClient({ url: server.url }, { score }, { score });
    for (const { error, message } of results) {
      expect([error, message]).toEqual([
        'ServerUnavailableError',
        expect.stringMatching(refusal('\\(1 attempt\\)')),
      ]);
    }
    expect(waits).toEqual([]);
  });

  it('that answered before is an error after the last attempt', async () => {
    let answered = false;
    const closing = createServer((request, response) => {
      answered = true;
      request.resume();
      response.writeHead(503).end(() => closing.close());
      response.shouldKeepAlive = false;
    });
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    const { port } = closing.address() as AddressInfo;
    const { results, waits } = await callClient({ url: `http://127.0.0.1:${port}` }, { score });
    expect(results[0].message).toMatch(refusal('6 attempts'));
    expect([answered, waits]).toEqual([true, [0.5, 1, 2, 4, 8]]);
  });

  it('that accepts requests but never answers is an error after the last timeout', async () => {
    const server = await faultyServer(await startServer(), noAnswer, noAnswer);
    const { results } = await callClient(
      { url: server.url, timeout_s: 0.05, backoff: { attempts: 2 } },
      { score },
    );
    expect(results[0].message).toMatch(/timed? ?out.*2 attempts/i);
  });
});
