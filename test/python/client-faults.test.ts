/** Retries and failover of the Python client, with one server and with several. The tests record the waits instead of waiting. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
if (absent !== null) test.skip(`the Python client's retries: NOT TESTED here: ${absent}`, () => {});

const score = { seeds: [7], action_histories: [[]], actions: ['sleep'], scores: ['total'] };
const seeds = Array.from({ length: 4200 }, (_, i) => i);
/** A batch with invalid rows. The client sends it to two servers in eight parts (_PARTS_PER_SERVER is 4). */
const large = {
  seeds: seeds.map((seed) => (seed % 900 === 899 ? -1 : seed)),
  action_histories: seeds.map((seed) => (seed % 3 === 0 ? ['sleep', 'deep_work'] : [])),
  completions: seeds.map((seed) => `${seed % 10} 5 5 ${seed % 7 === 0 ? 'fly' : 'SLEEP'}`),
  parsed: true,
};
const closeConnection: Behaviour = (request) => request.socket.destroy();
const noAnswer: Behaviour = () => {};
const busy = (retryAfter: string) => answering(503, { 'retry-after': retryAfter });

/** Returns the URL of a server that has stopped. */
async function deadUrl(): Promise<string> {
  const server = await startServer();
  await server.close();
  return server.url;
}

describe.runIf(absent === null)('temporary failures are retried', () => {
  it('with exponential back-off, at least as long as Retry-After', async () => {
    const server = await faultyServer(
      await startServer(),
      busy('3'),
      closeConnection,
      answering(502),
      answering(429),
      // Not a number, although Python's isdigit accepts it.
      busy('\u00b2'),
      busy('Wed, 21 Oct 2015 07:28:00 GMT'),
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
    expect(results.map(({ error, message }) => [error, message])).toEqual([
      ['ServerUnavailableError', expect.stringMatching(/got 503 details.*3 attempts.*batch/)],
      ['ServerUnavailableError', expect.stringMatching(/Retry-After: 3600 \(1 attempt\)/)],
    ]);
    expect(server.requests()).toBe(4);
  });

  it('with bounded waits, which start again with each batch', async () => {
    const failures = [...Array(4).fill(closeConnection), null, closeConnection];
    const server = await faultyServer(await startServer(), ...failures);
    const backoff = { first_s: 5, longest_s: 15 };
    const { waits } = await callClient({ url: server.url, backoff }, { score }, { score });
    expect(waits).toEqual([5, 10, 15, 15, 5]);
  });
});

describe.runIf(absent === null)('permanent errors', () => {
  /** What the server answers, and the client's error. */
  const answers: [status: number, body: string, message: RegExp][] = [
    [400, '{"detail": "details"}', /got 400.*details/],
    [401, '{"detail": "details"}', /got 401.*RHYTHM_TOKEN/],
    [403, '{"detail": "details"}', /got 403 Forbidden: details The detail says what to change\.$/],
    [404, '{"detail": "details"}', /got 404.*rhythm-vec server/],
    [413, '{"detail": "details"}', /got 413.*--body-limit/],
    [500, '{"detail": "details"}', /got 500/],
    [400, '{"detail": [{"loc": null, "msg": "No."}, {"msg": "Never."}]}', /No\.; Never\./],
    [400, '{"detail": [{"type": "extra", "loc": ["body", "n"]}]}', /'loc': \['body', 'n'\]/],
    [400, '{"detail": null, "error": "No."}', /"error": "No\."/],
    [200, '<html>Welcome</html>', /got invalid JSON: <html>Welcome/],
    [200, '{"hello": 1}', /hello.*rhythm-vec server/],
    [200, 'null', /other JSON: None/],
    [200, '{"world_digest": "w", "faults": [], "scores": {"total": []}}', /total/],
    [200, '{"world_digest": "w", "faults": [], "scores": {"total": [[1]]}}', /total/],
    [200, '{"world_digest": "w", "faults": [3], "scores": {"total": [1]}}', /faults/],
    [200, '{"world_digest": "w", "faults": [{"index": 1, "code": "a", "message": "b"}], "scores": {}}', /./],
    [200, '['.repeat(200_000), /./],
  ];

  it('and invalid answers are not retried, and their errors name the request', async () => {
    const behaviours = answers.map(([status, body]) => answering(status, {}, body));
    const server = await faultyServer(await startServer(), ...behaviours);
    const calls = [...answers.map(() => ({ score })), { score: { ...score, scores: ['beauty'] } }];
    const { results, waits } = await callClient({ url: server.url }, ...calls);
    for (const [k, [status, , message]] of answers.entries()) {
      expect(results[k].message).toMatch(message);
      expect(results[k].message).toMatch(/^Expected .*from POST http/);
      expect(results[k].error).toMatch(status === 200 ? /^(RhythmError|RefusedError)$/ : /^RefusedError$/);
    }
    expect(results.at(-1)!.message).toMatch(/got 422.*body\.scores\.0: /);
    expect([server.requests(), waits]).toEqual([answers.length + 1, []]);
  });

  it.each<[url: string | string[], message: RegExp]>([
    ['127.0.0.1:8000', /url to be like http:/],
    ['http://127.0.0.1:80a', /url to be like http:/],
    ['http://[::1', /url to be like http:/],
    [[], /at least one server, got none/],
    [['http://127.0.0.1:9', 'localhost'], /url to be like http.*got 'localhost'/],
  ])('are raised for invalid URLs: %j', async (url, message) => {
    await expect(callClient({ url }, { score })).rejects.toThrow(message);
  });
});

it.runIf(absent === null)("a batch above the server's limit is halved until its parts fit", async () => {
  const { url } = await startServer({ bodyLimit: 2 ** 14 });
  const unlimited = await startServer();
  const inParts = await callClient({ url }, { score: large });
  const inOneRequest = await callClient({ url: unlimited.url }, { score: large });
  expect(inParts.results[0].rows).toBe(seeds.length);
  expect(inParts.results).toEqual(inOneRequest.results);
});

describe.runIf(absent === null)('an unavailable server', () => {
  const refusal = (attempts: string) =>
    new RegExp(`at http://127.*, got ConnectionRefusedError.*${attempts}.*\`npx rhythm-vec serve\``);

  it('that refuses the first connection is an error with a remedy, without a retry', async () => {
    const { results, waits } = await callClient({ url: await deadUrl() }, { score }, { score });
    const error = {
      error: 'ServerUnavailableError',
      message: expect.stringMatching(refusal('1 attempt\\)')),
    };
    expect(results).toEqual([error, error]);
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
    const options = { url: server.url, timeout_s: 0.05, backoff: { attempts: 2 } };
    const { results } = await callClient(options, { score });
    expect(results[0].message).toMatch(/timed? ?out.*2 attempts/i);
  });
});

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

describe.runIf(absent === null)('with several servers', () => {
  it('results equal those of one server, each server computes parts, and threads share a client', async () => {
    const calls: Call[] = seeds.slice(0, 8).map((seed) => ({ score: { ...score, seeds: [seed] } }));
    const { url } = await startServer();
    const one = await callClient({ url }, { score: large }, ...calls);
    const batch = await callBoth([[], []], [{ score: large }]);
    expect(batch.results[0]).toEqual(one.results[0]);
    expect(batch.results[0].faults!.map(({ index }) => index)).toEqual([899, 1799, 2699, 3599]);
    const threads = await callBoth([[], []], [{ parallel: calls }]);
    expect(threads.results[0].results).toEqual(one.results.slice(1));
    for (const { requests } of [batch, threads]) {
      expect(requests[0] + requests[1]).toBe(8);
      expect(Math.min(...requests)).toBeGreaterThan(0);
    }
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
    expect(results[0].rows).toBe(seeds.length);
    expect(requests).toEqual([1, 7]);
  });

  it('servers take turns with single requests; a refused request is not sent to another server', async () => {
    const first = [null, null, null, answering(401)];
    const { results, requests, waits } = await callBoth([first, []], Array(7).fill({ score }));
    expect([requests, waits]).toEqual([[4, 3], []]);
    expect(results.map(({ error }) => error ?? null)).toEqual([...Array(6).fill(null), 'RefusedError']);
  });

  it('a server that fails is left out, longer after each failure, and as long as Retry-After says', async () => {
    const round = (seconds: number): Call[] => [{ advance: seconds }, { score }];
    const { results, requests, waits } = await callBoth(
      [[closeConnection, closeConnection, busy('30')], []],
      [{ score }, ...round(0.5), ...round(0.9), ...round(0.1), ...round(29), ...round(1)],
    );
    // The first server gets call 1, and calls 2, 4 and 6 after it was left out for 0.5, 1 and 30 s.
    expect([requests, waits]).toEqual([[4, 5], []]);
    for (const { error } of results) expect(error).toBeUndefined();
  });

  it('a large batch survives a server that does not listen, and one that fails while it computes', async () => {
    const { url } = await startServer();
    const one = await callClient({ url }, { score: large });
    const dead = await callClient({ url: [await deadUrl(), url] }, { score: large });
    const failing = [null, ...Array(20).fill(closeConnection)];
    for (const { results, waits } of [dead, await callBoth([failing, []], [{ score: large }])]) {
      expect(results).toEqual(one.results);
      expect(waits).toEqual([]);
    }
  });

  it('if all servers fail, an error names them: at once if none ever listened, else after the last attempt', async () => {
    const urls = [await deadUrl(), await deadUrl()];
    const unreached = await callClient({ url: urls }, { score });
    expect(unreached.results[0].message).toMatch(new RegExp(`${urls[0]} or ${urls[1]}, got .*1 attempt\\)`));
    expect(unreached.waits).toEqual([]);
    const both = await callBoth([Array(9).fill(busy('3')), Array(9).fill(closeConnection)], [{ score }], {
      attempts: 3,
    });
    expect(both.results[0].error).toBe('ServerUnavailableError');
    expect(both.results[0].message).toContain(`Retry-After: 3 from ${both.urls[0]}; `);
    expect(both.waits).toEqual([0.5, 1]);
  });

  it('different worlds in one batch are an error', async () => {
    const other = { world_digest: 'w', faults: [], scores: { total: Array(512).fill(1) } };
    const foreign = answering(200, {}, JSON.stringify(other));
    const rows = { seeds: seeds.slice(0, 1024), action_histories: Array(1024).fill([]) };
    const { results, urls } = await callBoth(
      [[], [foreign, foreign]],
      [{ score: { ...rows, actions: Array(1024).fill(0), scores: ['total'] } }],
    );
    expect(results[0].error).toBe('RhythmError');
    // In the order in which the servers answered.
    expect(results[0].message).toMatch(
      /^Expected servers of the same world, got (\S+ from \S+ and )?w from /,
    );
    expect(results[0].message).toContain(urls[1]);
  });
});
