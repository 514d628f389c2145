/** Faults of the Hub: which requests are retried, which errors are thrown, and that no error contains the token. */

import { describe, expect, it } from 'vitest';
import { CLOCK } from '../../../src/shared/http/retry.js';
import { HubError, networkError } from '../../../src/training/hub/hub-errors.js';
import type { FakeHub } from '../../fakes/hub.js';
import type { Fault } from '../../fakes/hub-faults.js';
import { newRepo, sha256 } from '../../fakes/hub-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { bytes, countOf, directoryOf, REPO, startHub, textsAt, uploadTo } from '../../support/hub.js';

/** Creates files to upload. @returns the paths to pass. */
const createFiles = () => [directoryOf({ 'README.md': 'r', 'x.bin': bytes(100) })];

/** Creates the repository if a fault concerns its files, which a missing repository does not have. */
const createFor = (hub: FakeHub, { source }: RegExp): void => {
  if (source.includes('paths')) hub.repos.set(`dataset ${REPO.name}`, newRepo('dataset', REPO.name, false));
};

/** A fault that answers with a status. */
const answering = (
  pattern: RegExp,
  answer: number,
  body?: string,
  headers?: Record<string, string>,
): Fault => ({
  pattern,
  action: { answer, ...(body !== undefined && { body }), ...(headers !== undefined && { headers }) },
});

describe('retries', () => {
  const conflict = 'Cannot create repo: another conflicting operation is in progress';
  it.each<[what: string, fault: Fault]>([
    ['429 with retry-after 0', answering(/revision/, 429, undefined, { 'retry-after': '0' })],
    ['500', answering(/commit/, 500, '<html>Oh no</html>')],
    ['503 of storage', answering(/^PUT/, 503, '<Error><Code>SlowDown</Code></Error>')],
    ['504', answering(/batch$/, 504)],
    ['409 because of a conflicting operation', answering(/create$/, 409, conflict)],
    ['a connection that closes while contents are sent', { pattern: /^PUT/, action: { dropAfter: 10 } }],
    ['a connection that closes at once', { pattern: /paths-info/, action: { dropAfter: 0 } }],
  ])('are made after %s, and succeed', async (_, fault) => {
    const hub = await startHub();
    createFor(hub, fault.pattern);
    hub.faults.add({ ...fault, times: 2 });
    const { progress } = await uploadTo(hub, createFiles());
    expect(Object.keys(textsAt(hub)).sort()).toEqual(['README.md', 'x.bin']);
    expect(progress.waits).toHaveLength(2);
    expect(progress.waits[1]).toMatch(
      /^[A-Z]+ http:\S+: (status \d+|no answer); retrying in 2 s \(attempt 2 of 6\)\.$/,
    );
    expect(progress.sent).toBe(100);
  });

  it('stop after 6 attempts', async () => {
    const hub = await startHub();
    hub.faults.add(answering(/preupload/, 500, 'down'));
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(
      /^Expected the Hub to answer POST http:\S+\/preupload\/main, got status 500 \(down\)\. Run the same command later/,
    );
    expect(countOf(hub, /preupload/)).toBe(6);
  });

  it.each([
    ['without a demanded wait', {}, [1000, 2000, 4000, 8000, 16_000]],
    ['with a short demanded wait', { 'retry-after': '3' }, [3000, 3000, 4000, 8000, 16_000]],
    ['with a long demanded wait', { ratelimit: '"api";r=0;t=290' }, Array(5).fill(290_000)],
    ['not at all with a wait of an hour', { 'retry-after': '3600' }, []],
  ])(
    'back off exponentially, and wait at least as long as the Hub demands: %s',
    async (_, headers, waits) => {
      const hub = await startHub();
      hub.faults.add({ ...answering(/revision/, 429, undefined, headers), times: 5 });
      const clock = new FakeClock();
      const uploaded = uploadTo(hub, createFiles(), { clock });
      if (waits.length > 0) await uploaded;
      else await expect(uploaded).rejects.toThrow(/status 429.*Run the same command later/);
      expect(clock.waits).toEqual(waits);
    },
  );

  it('stop when the signal aborts a wait', async () => {
    const hub = await startHub();
    hub.faults.add(answering(/revision/, 429, undefined, { 'retry-after': '200' }));
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
  const json = { 'content-type': 'application/json' };
  const unrequested = '{"objects":[{"oid":"OID","size":100,"error":{"code":422,"message":"quota"}}]}';
  const quota = { oid: sha256(bytes(100)), size: 100, error: { code: 422, message: 'over quota' } };
  const renamed = '{"id":"newcomer/new","sha":"1"}';
  const permanent: [what: string, fault: Fault, message: RegExp][] = [
    ['an expired token', answering(/revision/, 401), /status 401\. Check HF_TOKEN, or run "hf auth login"/],
    ['no write access', answering(/create$/, 403), /status 403\. Use a token with write access/],
    ['a missing repository', answering(/preupload/, 404), /status 404\. Check --repo and --type/],
    [
      'a gated one',
      answering(/revision/, 403, '', { 'x-error-code': 'GatedRepo' }),
      /A gated repository must grant access on its page/,
    ],
    ['a file that is too large', answering(/^PUT/, 413), /The file is too large for the server/],
    [
      'an invalid card',
      answering(/commit/, 400, '{"error":"Invalid YAML"}', json),
      /400 \(Invalid YAML\)\. Check/,
    ],
    ...Object.entries({
      '{"error":{"message":"Too many files"}}': 'Too many files',
      '{"error":"Bad Request","message":"Too many files"}': 'Too many files',
      '{"detail":[{"loc":["body","files"],"msg":"Too many"}]}': 'body\\.files: Too many',
      '{"errors":["Too many","Too large"]}': 'Too many; Too large',
      '{"reason":3}': '\\{"reason":3\\}',
      '<html><title>Proxy login</title></html>': 'Proxy login',
    }).map(([body, message]): [string, Fault, RegExp] => [
      `an error with the body ${body}`,
      answering(/commit/, 400, body),
      new RegExp(`status 400 \\(${message}\\)\\. Check the uploaded files\\.`),
    ]),
    ['an object that was not requested', answering(/batch$/, 200, unrequested), /Unrequested object ID/],
    ['an object', answering(/batch$/, 200, JSON.stringify({ objects: [quota] })), /x\.bin: over quota/],
    [
      'HTML instead of JSON',
      answering(/revision/, 200, '<html>Sign in'),
      /got an unreadable one: invalid JSON/,
    ],
    ['null instead of an object', answering(/preupload/, 200, 'null'), /got an unreadable one/],
    ['a list with null', answering(/paths-info/, 200, '[null]'), /got an unreadable one/],
    ['a renamed repository', answering(/revision/, 200, renamed), /got "newcomer\/new": it was renamed/],
  ];
  it.each(permanent)('%s', async (_, fault, message) => {
    const hub = await startHub();
    createFor(hub, fault.pattern);
    hub.faults.add(fault);
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(message);
    expect(countOf(hub, fault.pattern)).toBe(1);
    expect(textsAt(hub)).toEqual({});
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
      createFor(hub, pattern);
      hub.faults.add(answering(pattern, 200, `{"a":${deep}`));
      await expect(uploadTo(hub, createFiles())).rejects.toThrow(
        /^Expected an answer to .*, got more than 64 levels of nesting in a response\. Check/,
      );
      expect(countOf(hub, pattern)).toBe(1);
      expect(textsAt(hub)).toEqual({});
    },
  );

  it('does not hide the status', async () => {
    const hub = await startHub();
    hub.faults.add(answering(/revision/, 401, deep));
    await expect(uploadTo(hub, createFiles())).rejects.toThrow(/status 401 \(more than 64 .*Check HF_TOKEN/);
    hub.faults.clear();
    hub.faults.add({ ...answering(/revision/, 503, deep), times: 2 });
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
  expect(networkError(new TypeError('fetch failed', { cause }), 'GET x', null).retryAfterMs).toBe(
    transient ? 0 : null,
  );
});

describe('with a hostile Hub, the token', () => {
  const TOKEN = 'hf_aFakeTokenOfNobody';
  const echoes = [TOKEN, TOKEN.toUpperCase(), TOKEN.toLowerCase()];
  const all = echoes.join(' ');
  const headers = { 'x-error-message': `no ${all}`, 'x-request-id': all };
  const object = `{"objects":[{"oid":"${all}","error":{"code":1,"message":"${all}"}}]}`;
  const location = `http://127.0.0.1:1/${echoes.join('/')}`;
  it.each<[string, Fault]>([
    ['in an error', answering(/create$/, 400, all)],
    ['in a header', answering(/create$/, 403, undefined, headers)],
    ['in invalid JSON', answering(/revision/, 200, all)],
    ['in a name', answering(/revision/, 200, `{"id":"${all}","sha":"1"}`)],
    ['in a path', answering(/revision|paths/, 200, `[{"path":"${all}","type":"${all}"}]`)],
    ['in an object', answering(/batch$/, 200, object)],
    ['in an error that is retried', answering(/create$/, 503, all)],
    ['in a redirect', answering(/create$/, 307, undefined, { location })],
  ])('%s is not quoted, in any case', async (_, fault) => {
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
    hub.faults.add(answering(/revision/, 307, undefined, { location }));
    await uploadTo(hub, createFiles()).catch(() => {});
    for (const { authorization } of other.requests) expect(authorization).toBeNull();
    expect(other.requests.length).toBeGreaterThan(0);
  });
});
