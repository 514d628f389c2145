/** A Hub that misbehaves: what is asked again, what is told, and that no answer brings a secret to light. */
import { describe, expect, it } from 'vitest';
import { CLOCK } from '../../../src/shared/http/clock.js';
import { HubError } from '../../../src/training/hub/hub-errors.js';
import { faultOf, waitAskedFor } from '../../../src/training/hub/refusals.js';
import type { Fault } from '../../fakes/hub-faults.js';
import { sha256 } from '../../fakes/hub-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { bytes, countOf, directoryOf, REPO, startHub, textsAt, uploadTo } from '../../support/hub.js';

const UPLOAD = () => [directoryOf({ 'README.md': 'r', 'x.bin': bytes(100) })];

describe('is asked again', () => {
  const again: [name: string, fault: Omit<Fault, 'times'>][] = [
    ['429 and at once', { on: /revision/, does: { answer: 429, headers: { 'retry-after': '0' } } }],
    ['500', { on: /commit/, does: { answer: 500, body: '<html>Oh no</html>' } }],
    ['502 of storage', { on: /^PUT/, does: { answer: 502 } }],
    ['503 of storage', { on: /^PUT/, does: { answer: 503, body: '<Error><Code>SlowDown</Code></Error>' } }],
    ['504', { on: /batch$/, does: { answer: 504 } }],
    [
      'another creation that is under way',
      {
        on: /create$/,
        does: { answer: 409, body: 'Cannot create repo: another conflicting operation is in progress' },
      },
    ],
    ['a connection that ends within contents', { on: /^PUT/, does: { dropAfter: 10 } }],
    ['a connection that ends at once', { on: /paths-info/, does: { dropAfter: 0 } }],
  ];
  it.each(again)('after %s', async (_, fault) => {
    const hub = await startHub();
    hub.faults.add({ ...fault, times: 2 });
    const { progress } = await uploadTo(hub, UPLOAD());
    expect(Object.keys(textsAt(hub)).sort()).toEqual(['README.md', 'x.bin']);
    expect(progress.waits).toHaveLength(2);
    expect(progress.waits[1]).toMatch(/^Expected .*; asking again in 2 s \(attempt 2 of 6\)\.$/);
    expect(progress.sent).toBe(100);
  });

  it('so often, and no more', async () => {
    const hub = await startHub();
    hub.faults.add({ on: /preupload/, does: { answer: 500, body: 'down' } });
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(
      /^Expected the Hub to answer POST http:\S+\/preupload\/main, got status 500 \(down\)\. Run the same command later/,
    );
    expect(countOf(hub, /preupload/)).toBe(6);
  });

  it('not where it wants a longer rest than anybody waits', async () => {
    const hub = await startHub();
    hub.faults.add({ on: /revision/, does: { answer: 429, headers: { 'retry-after': '3600' } } });
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(/status 429.*Run the same command later/);
    expect(hub.requests).toHaveLength(1);
  });

  it.each([
    ['where it says nothing', {}, [1000, 2000, 4000, 8000, 16_000]],
    ['where it wants them soon', { 'retry-after': '3' }, [3000, 3000, 4000, 8000, 16_000]],
    ['where it wants them late', { ratelimit: '"api";r=0;t=290' }, Array(5).fill(290_000)],
  ])('later and later, and no sooner than it wants: %s', async (_, headers, waits) => {
    const hub = await startHub();
    hub.faults.add({ on: /revision/, times: 5, does: { answer: 429, headers } });
    const clock = new FakeClock();
    await uploadTo(hub, UPLOAD(), { clock });
    expect(clock.waits).toEqual(waits);
  });

  it('when it says so', () => {
    const of = (headers: Record<string, string>) => waitAskedFor(new Headers(headers), Date.UTC(2026, 0, 1));
    expect(of({ 'retry-after': '17' })).toBe(17_000);
    expect(of({ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' })).toBe(9000);
    expect(of({ 'retry-after': 'Thu, 01 Jan 2025 00:00:09 GMT' })).toBe(0);
    expect(of({ ratelimit: '"api";r=0;t=55' })).toBe(55_000);
    expect([of({ ratelimit: '"api";r=3;t=55' }), of({ 'retry-after': 'soon' }), of({})]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('until somebody asks to stop, also while it waits', async () => {
    const hub = await startHub();
    hub.faults.add({ on: /revision/, does: { answer: 429, headers: { 'retry-after': '200' } } });
    const stop = new AbortController();
    // Told before the wait: it is under way a turn of the event loop later.
    const onWait = () => setImmediate(() => stop.abort(new Error('enough')));
    const options = { signal: stop.signal, onWait, clock: CLOCK };
    await expect(uploadTo(hub, UPLOAD(), options)).rejects.toThrow('enough');
    expect(hub.requests).toHaveLength(1);
  });

  it('until somebody asks to stop, also while it is sent contents', async () => {
    const hub = await startHub();
    hub.faults.add({ on: /^PUT/, does: { hangAfter: 50 } });
    const hanging = hub.faults.hanging();
    const stop = new AbortController();
    const stopped = expect(uploadTo(hub, UPLOAD(), { signal: stop.signal })).rejects.toThrow('enough');
    await hanging;
    stop.abort(new Error('enough'));
    await stopped;
    expect(countOf(hub, /commit/)).toBe(0);
  });
});

describe('refuses, and is not asked again:', () => {
  const refusals: [name: string, fault: Fault, message: RegExp][] = [
    [
      'an expired token',
      { on: /revision/, does: { answer: 401 } },
      /status 401\. Check HF_TOKEN, or run "hf auth login"/,
    ],
    [
      'a token that may not write',
      { on: /create$/, does: { answer: 403 } },
      /status 403\. Use a token that may write there/,
    ],
    [
      'what it never heard of',
      { on: /preupload/, does: { answer: 404 } },
      /status 404\. Check --repo and --type/,
    ],
    [
      'a gate',
      { on: /revision/, does: { answer: 403, headers: { 'x-error-code': 'GatedRepo' } } },
      /Access to it must be granted/,
    ],
    ['too large a file', { on: /^PUT/, does: { answer: 413 } }, /It takes no files of this size/],
    [
      'a bad card',
      {
        on: /commit/,
        does: {
          answer: 400,
          headers: { 'content-type': 'application/json' },
          body: '{"error":"Invalid YAML"}',
        },
      },
      /status 400 \(Invalid YAML\)\. Check what is uploaded\./,
    ],
    [
      'an object',
      {
        on: /batch$/,
        does: {
          answer: 200,
          body: '{"objects":[{"oid":"OID","size":100,"error":{"code":422,"message":"quota"}}]}',
        },
      },
      /Unrequested object ID/,
    ],
    [
      'in another language',
      { on: /revision/, does: { answer: 200, body: '<html>Welcome to the airport</html>' } },
      /Expected answers such as the Hub gives, got what cannot be read/,
    ],
    ['with nothing', { on: /preupload/, does: { answer: 200, body: 'null' } }, /got what cannot be read/],
    [
      'with a list of anything',
      { on: /paths-info/, does: { answer: 200, body: '[null]' } },
      /got what cannot be read/,
    ],
    [
      'with another name',
      { on: /revision/, does: { answer: 200, body: '{"id":"newcomer/new","sha":"1"}' } },
      /got "newcomer\/new": it was renamed/,
    ],
  ];
  it.each(refusals)('%s', async (_, fault, message) => {
    const hub = await startHub();
    hub.faults.add(fault);
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(message);
    expect(countOf(hub, fault.on)).toBe(1);
    expect(textsAt(hub)).toEqual({});
  });

  it('large contents, by an error of their own', async () => {
    const hub = await startHub();
    const objects = [{ oid: sha256(bytes(100)), size: 100, error: { code: 422, message: 'over quota' } }];
    hub.faults.add({ on: /batch$/, does: { answer: 200, body: JSON.stringify({ objects }) } });
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(/x\.bin: over quota/);
  });

  it('a wrong token, and one of another namespace', async () => {
    const hub = await startHub({ namespaces: ['somebody'] });
    await expect(uploadTo(hub, UPLOAD(), { token: 'hf_wrong' })).rejects.toThrow(
      /status 401 \(Invalid credentials/,
    );
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(/status 403 \(You don't have the rights/);
    expect(hub.repos.size).toBe(0);
  });
});

describe('an answer that is nested without end', () => {
  const deep = '['.repeat(200_000);
  it.each([/revision/, /create$/, /preupload/, /paths-info/, /batch$/])(
    'to %s is not asked for again',
    async (on) => {
      const hub = await startHub();
      hub.faults.add({ on, does: { answer: 200, body: `{"a":${deep}` } });
      await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(
        /^Expected an answer to .*, got Expected at most 64 levels of nesting in an answer, got more\. Check/,
      );
      expect(countOf(hub, on)).toBe(1);
      expect(textsAt(hub)).toEqual({});
    },
  );

  it('leaves a status what it means', async () => {
    const hub = await startHub();
    hub.faults.add({ on: /revision/, does: { answer: 401, body: deep } });
    await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(
      /status 401 \(Expected at most 64 .*Check HF_TOKEN/,
    );
    hub.faults.clear();
    hub.faults.add({ on: /revision/, times: 2, does: { answer: 503, body: deep } });
    expect((await uploadTo(hub, UPLOAD())).progress.waits).toHaveLength(2);
  });
});

it('nobody there is said, with what to check', async () => {
  const hub = await startHub();
  await hub.close();
  await expect(uploadTo(hub, UPLOAD())).rejects.toThrow(
    /^Expected an answer to GET http:\S+, got ECONNREFUSED\. Check the network and HF_ENDPOINT/,
  );
});

it.each([
  ['ENOTFOUND', false],
  ['CERT_HAS_EXPIRED', false],
  ['ECONNRESET', true],
  ['EAI_AGAIN', true],
])('%s may pass: %s', (code, transient) => {
  const cause = Object.assign(new Error('x'), { code });
  expect(faultOf(new TypeError('fetch failed', { cause }), 'GET x', null).transient).toBe(transient);
});

describe('a hostile Hub that says the token back', () => {
  const TOKEN = 'hf_aFakeTokenOfNobody';
  const echoes = [TOKEN, Buffer.from(TOKEN).toString('base64'), Buffer.from(TOKEN).toString('hex')];
  const faults = echoes.flatMap((echo): [string, Fault][] => [
    ['in an error', { on: /create$/, does: { answer: 400, body: echo } }],
    [
      'in a header',
      {
        on: /create$/,
        does: { answer: 403, headers: { 'x-error-message': `no ${echo}`, 'x-request-id': echo } },
      },
    ],
    ['in JSON that is none', { on: /revision/, does: { answer: 200, body: echo } }],
    ['in a name', { on: /revision/, does: { answer: 200, body: `{"id":"${echo}","sha":"1"}` } }],
    [
      'in a path',
      { on: /revision|paths/, does: { answer: 200, body: `[{"path":"${echo}","type":"${echo}"}]` } },
    ],
    [
      'in an object',
      {
        on: /batch$/,
        does: { answer: 200, body: `{"objects":[{"oid":"${echo}","error":{"code":1,"message":"${echo}"}}]}` },
      },
    ],
    ['while it is busy', { on: /create$/, does: { answer: 503, body: echo } }],
    [
      'in a redirect',
      { on: /create$/, does: { answer: 307, headers: { location: `http://127.0.0.1:1/${echo}` } } },
    ],
  ]);
  it.each(faults)('%s is not quoted', async (_, fault) => {
    const hub = await startHub({ token: TOKEN });
    hub.faults.add(fault);
    const waits: string[] = [];
    const error = await uploadTo(hub, UPLOAD(), { onWait: (why) => waits.push(why) }).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(HubError);
    const said = `${error!.message} ${error!.stack} ${String(error!.cause)} ${waits.join(' ')}`;
    for (const echo of echoes) expect(said).not.toContain(echo);
  });

  it('and is sent it by no redirect to another host', async () => {
    const [hub, other] = [await startHub(), await startHub()];
    const location = `${other.url.replace('127.0.0.1', 'localhost')}/api/datasets/${REPO.name}/revision/main`;
    hub.faults.add({ on: /revision/, does: { answer: 307, headers: { location } } });
    await uploadTo(hub, UPLOAD()).catch(() => {});
    for (const { authorization } of other.requests) expect(authorization).toBeNull();
    expect(other.requests.length).toBeGreaterThan(0);
  });
});
