/** Faults of the Hub: which requests are retried, which errors are thrown, and that no error contains the token. */
import { describe, expect, it } from 'vitest';
import { CLOCK } from '../../../src/shared/http/clock.js';
import { HubError } from '../../../src/training/hub/hub-errors.js';
import { demandedWaitMs, networkError } from '../../../src/training/hub/response-errors.js';
import type { Fault } from '../../fakes/hub-faults.js';
import { sha256 } from '../../fakes/hub-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { bytes, countOf, directoryOf, REPO, startHub, textsAt, uploadTo } from '../../support/hub.js';

/** Creates files to upload. @returns the paths to pass. */
const createFiles = () => [directoryOf({ 'README.md': 'r', 'x.bin': bytes(100) })];

describe('retries', () => {
  const transient: [name: string, fault: Omit<Fault, 'times'>][] = [
    [
      '429 with retry-after 0',
      { pattern: /revision/, action: { answer: 429, headers: { 'retry-after': '0' } } },
    ],
    ['500', { pattern: /commit/, action: { answer: 500, body: '<html>Oh no</html>' } }],
    ['502 of storage', { pattern: /^PUT/, action: { answer: 502 } }],
    [
      '503 of storage',
      { pattern: /^PUT/, action: { answer: 503, body: '<Error><Code>SlowDown</Code></Error>' } },
    ],
    ['504', { pattern: /batch$/, action: { answer: 504 } }],
    [
      '409 because of a conflicting operation',
      {
        pattern: /create$/,
        action: { answer: 409, body: 'Cannot create repo: another conflicting operation is in progress' },
      },
    ],
    ['a connection that closes while contents are sent', { pattern: /^PUT/, action: { dropAfter: 10 } }],
    ['a connection that closes at once', { pattern: /paths-info/, action: { dropAfter: 0 } }],
  ];
  it.each(transient)('are made after %s, and succeed', async (_, fault) => {
    const hub = await startHub();
    hub.faults.add({ ...fault, times: 2 });
    const { progress } = await uploadTo(hub, createFiles());
    expect(Object.keys(textsAt(hub)).sort()).toEqual(['README.md', 'x.bin']);
    expect(progress.waits).toHaveLength(2);
    expect(progress.waits[1]).toMatch(/^Expected .*; retrying in 2 s \(attempt 2 of 6\)\.$/);
    expect(progress.sent).toBe(100);
  });

  it('stop after 6 attempts', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /preupload/, action: { answer: 500, body: 'down' } });
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(
      /^Expected the Hub to answer POST http:\S+\/preupload\/main, got status 500 \(down\)\. Run the same command later/,
    );
    expect(countOf(hub, /preupload/)).toBe(6);
  });

  it('are not made if the wait that the Hub demands is too long', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /revision/, action: { answer: 429, headers: { 'retry-after': '3600' } } });
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(/status 429.*Run the same command later/);
    expect(hub.requests).toHaveLength(1);
  });

  it.each([
    ['without a demanded wait', {}, [1000, 2000, 4000, 8000, 16_000]],
    ['with a short demanded wait', { 'retry-after': '3' }, [3000, 3000, 4000, 8000, 16_000]],
    ['with a long demanded wait', { ratelimit: '"api";r=0;t=290' }, Array(5).fill(290_000)],
  ])(
    'back off exponentially, and wait at least as long as the Hub demands: %s',
    async (_, headers, waits) => {
      const hub = await startHub();
      hub.faults.add({ pattern: /revision/, times: 5, action: { answer: 429, headers } });
      const clock = new FakeClock();
      await uploadTo(hub, createFiles(), { clock });
      expect(clock.waits).toEqual(waits);
    },
  );

  it('read the demanded wait from headers', () => {
    const waitIn = (headers: Record<string, string>) =>
      demandedWaitMs(new Headers(headers), Date.UTC(2026, 0, 1));
    expect(waitIn({ 'retry-after': '17' })).toBe(17_000);
    expect(waitIn({ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' })).toBe(9000);
    expect(waitIn({ 'retry-after': 'Thu, 01 Jan 2025 00:00:09 GMT' })).toBe(0);
    expect(waitIn({ ratelimit: '"api";r=0;t=55' })).toBe(55_000);
    expect([waitIn({ ratelimit: '"api";r=3;t=55' }), waitIn({ 'retry-after': 'soon' }), waitIn({})]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('stop when the signal aborts a wait', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /revision/, action: { answer: 429, headers: { 'retry-after': '200' } } });
    const controller = new AbortController();
    // Called just before the wait. The abort comes one turn of the event loop later, during the wait.
    const onWait = () => setImmediate(() => controller.abort(new Error('aborted')));
    const options = { signal: controller.signal, onWait, clock: CLOCK };
    await expect(uploadTo(hub, createFiles(), options)).rejects.toThrow('aborted');
    expect(hub.requests).toHaveLength(1);
  });

  it('stop when the signal aborts a request with contents', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /^PUT/, action: { hangAfter: 50 } });
    const hanging = hub.faults.hanging();
    const controller = new AbortController();
    const aborted = expect(uploadTo(hub, createFiles(), { signal: controller.signal })).rejects.toThrow(
      'aborted',
    );
    await hanging;
    controller.abort(new Error('aborted'));
    await aborted;
    expect(countOf(hub, /commit/)).toBe(0);
  });
});

describe('permanent errors are thrown without a retry:', () => {
  const permanent: [name: string, fault: Fault, message: RegExp][] = [
    [
      'an expired token',
      { pattern: /revision/, action: { answer: 401 } },
      /status 401\. Check HF_TOKEN, or run "hf auth login"/,
    ],
    [
      'a token without write access',
      { pattern: /create$/, action: { answer: 403 } },
      /status 403\. Use a token with write access/,
    ],
    [
      'a missing repository',
      { pattern: /preupload/, action: { answer: 404 } },
      /status 404\. Check --repo and --type/,
    ],
    [
      'a gated repository',
      { pattern: /revision/, action: { answer: 403, headers: { 'x-error-code': 'GatedRepo' } } },
      /The repository is gated\. Request access/,
    ],
    [
      'a file that is too large',
      { pattern: /^PUT/, action: { answer: 413 } },
      /The file is too large for the server/,
    ],
    [
      'an invalid card',
      {
        pattern: /commit/,
        action: {
          answer: 400,
          headers: { 'content-type': 'application/json' },
          body: '{"error":"Invalid YAML"}',
        },
      },
      /status 400 \(Invalid YAML\)\. Check the uploaded files\./,
    ],
    ...Object.entries({
      '{"error":{"message":"Too many files"}}': 'Too many files',
      '{"error":"Bad Request","message":"Too many files"}': 'Too many files',
      '{"detail":[{"loc":["body","files"],"msg":"Too many"}]}': 'body\\.files: Too many',
      '{"errors":["Too many","Too large"]}': 'Too many; Too large',
      '{"reason":3}': '\\{"reason":3\\}',
      '<html><title>Proxy login</title></html>': 'Proxy login',
    }).map(
      ([body, message]) =>
        [
          `an error with the body ${body}`,
          { pattern: /commit/, action: { answer: 400, body } },
          new RegExp(`status 400 \\(${message}\\)\\. Check the uploaded files\\.`),
        ] as [string, Fault, RegExp],
    ),
    [
      'an error of an object that was not requested',
      {
        pattern: /batch$/,
        action: {
          answer: 200,
          body: '{"objects":[{"oid":"OID","size":100,"error":{"code":422,"message":"quota"}}]}',
        },
      },
      /Unrequested object ID/,
    ],
    [
      'HTML instead of JSON',
      { pattern: /revision/, action: { answer: 200, body: '<html>Sign in to the network</html>' } },
      /Expected an answer of the Hub, got an unreadable one: invalid JSON/,
    ],
    [
      'null instead of an object',
      { pattern: /preupload/, action: { answer: 200, body: 'null' } },
      /got an unreadable one/,
    ],
    [
      'a list with null',
      { pattern: /paths-info/, action: { answer: 200, body: '[null]' } },
      /got an unreadable one/,
    ],
    [
      'a renamed repository',
      { pattern: /revision/, action: { answer: 200, body: '{"id":"newcomer/new","sha":"1"}' } },
      /got "newcomer\/new": it was renamed/,
    ],
  ];
  it.each(permanent)('%s', async (_, fault, message) => {
    const hub = await startHub();
    hub.faults.add(fault);
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(message);
    expect(countOf(hub, fault.pattern)).toBe(1);
    expect(textsAt(hub)).toEqual({});
  });

  it('an error of a requested object', async () => {
    const hub = await startHub();
    const objects = [{ oid: sha256(bytes(100)), size: 100, error: { code: 422, message: 'over quota' } }];
    hub.faults.add({ pattern: /batch$/, action: { answer: 200, body: JSON.stringify({ objects }) } });
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(/x\.bin: over quota/);
  });

  it('an invalid token, and a token of another namespace', async () => {
    const hub = await startHub({ namespaces: ['somebody'] });
    await expect(uploadTo(hub, createFiles(), { token: 'hf_wrong' })).rejects.toThrow(
      /status 401 \(Invalid credentials/,
    );
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(/status 403 \(You don't have the rights/);
    expect(hub.repos.size).toBe(0);
  });
});

describe('a deeply nested answer', () => {
  const deep = '['.repeat(200_000);
  it.each([/revision/, /create$/, /preupload/, /paths-info/, /batch$/])(
    'to %s is an error without a retry',
    async (pattern) => {
      const hub = await startHub();
      hub.faults.add({ pattern, action: { answer: 200, body: `{"a":${deep}` } });
      await expect(uploadTo(hub, createFiles())).rejects.toThrow(
        /^Expected an answer to .*, got more than 64 levels of nesting in a response\. Check/,
      );
      expect(countOf(hub, pattern)).toBe(1);
      expect(textsAt(hub)).toEqual({});
    },
  );

  it('does not hide the status', async () => {
    const hub = await startHub();
    hub.faults.add({ pattern: /revision/, action: { answer: 401, body: deep } });
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(/status 401 \(more than 64 .*Check HF_TOKEN/);
    hub.faults.clear();
    hub.faults.add({ pattern: /revision/, times: 2, action: { answer: 503, body: deep } });
    expect((await uploadTo(hub, createFiles())).progress.waits).toHaveLength(2);
  });
});

it('a refused connection is an error with a remedy', async () => {
  const hub = await startHub();
  await hub.close();
  await expect(uploadTo(hub, createFiles())).rejects.toThrow(
    /^Expected an answer to GET http:\S+, got ECONNREFUSED\. Check the network and HF_ENDPOINT/,
  );
});

it.each([
  ['ENOTFOUND', false],
  ['CERT_HAS_EXPIRED', false],
  ['ECONNRESET', true],
  ['EAI_AGAIN', true],
])('the network error %s is transient: %s', (code, transient) => {
  const cause = Object.assign(new Error('x'), { code });
  expect(networkError(new TypeError('fetch failed', { cause }), 'GET x', null).transient).toBe(transient);
});

describe('with a hostile Hub, the token', () => {
  const TOKEN = 'hf_aFakeTokenOfNobody';
  const echoes = [TOKEN, Buffer.from(TOKEN).toString('base64'), Buffer.from(TOKEN).toString('hex')];
  const faults = echoes.flatMap((echo): [string, Fault][] => [
    ['in an error', { pattern: /create$/, action: { answer: 400, body: echo } }],
    [
      'in a header',
      {
        pattern: /create$/,
        action: { answer: 403, headers: { 'x-error-message': `no ${echo}`, 'x-request-id': echo } },
      },
    ],
    ['in invalid JSON', { pattern: /revision/, action: { answer: 200, body: echo } }],
    ['in a name', { pattern: /revision/, action: { answer: 200, body: `{"id":"${echo}","sha":"1"}` } }],
    [
      'in a path',
      { pattern: /revision|paths/, action: { answer: 200, body: `[{"path":"${echo}","type":"${echo}"}]` } },
    ],
    [
      'in an object',
      {
        pattern: /batch$/,
        action: {
          answer: 200,
          body: `{"objects":[{"oid":"${echo}","error":{"code":1,"message":"${echo}"}}]}`,
        },
      },
    ],
    ['in an error that is retried', { pattern: /create$/, action: { answer: 503, body: echo } }],
    [
      'in a redirect',
      { pattern: /create$/, action: { answer: 307, headers: { location: `http://127.0.0.1:1/${echo}` } } },
    ],
  ]);
  it.each(faults)('%s is not quoted', async (_, fault) => {
    const hub = await startHub({ token: TOKEN });
    hub.faults.add(fault);
    const waits: string[] = [];
    const error = await uploadTo(hub, createFiles(), { onWait: (why) => waits.push(why) }).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(HubError);
    const output = `${error!.message} ${error!.stack} ${String(error!.cause)} ${waits.join(' ')}`;
    for (const echo of echoes) expect(output).not.toContain(echo);
  });

  it('is not sent to another host after a redirect', async () => {
    const [hub, other] = [await startHub(), await startHub()];
    const location = `${other.url.replace('127.0.0.1', 'localhost')}/api/datasets/${REPO.name}/revision/main`;
    hub.faults.add({ pattern: /revision/, action: { answer: 307, headers: { location } } });
    await uploadTo(hub, createFiles()).catch(() => {});
    for (const { authorization } of other.requests) expect(authorization).toBeNull();
    expect(other.requests.length).toBeGreaterThan(0);
  });
});
