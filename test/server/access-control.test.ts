/** Access control: tokens, pages of other sites, public addresses; and the options of a server. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createConnection } from 'node:net';
import { expect, it } from 'vitest';
import { type ServeOptions, toServeSettings } from '../../src/server/server-options.js';
import { type Client, connect, sendRequest, startServer } from '../support/server.js';

const MIB = 2 ** 20;
const TOKEN = '0123456789abcdef-secret';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Returns the status of the answer to an upgrade; 101 if it succeeds. */
async function upgradeStatus(...args: Parameters<typeof connect>): Promise<number> {
  try {
    const client: Client = await connect(...args);
    client.socket.terminate();
    return 101;
  } catch (error) {
    return Number(/Unexpected server response: (\d+)/.exec((error as Error).message)![1]);
  }
}

const credentials: [what: string, status: number, headers: Record<string, string>][] = [
  ['no token', 401, {}],
  ['a token of the same length', 401, bearer(TOKEN.replace('s', 't'))],
  ['the beginning of the token', 401, bearer(TOKEN.slice(0, -1))],
  ['a longer token', 401, bearer(`${TOKEN}x`)],
  ['another scheme', 401, { authorization: `Basic ${TOKEN}` }],
  ['a scheme that ends in Bearer', 401, { authorization: `XBearer ${TOKEN}` }],
  ['the token', 200, bearer(TOKEN)],
  ['another spelling of the scheme', 200, { authorization: `bEARER   ${TOKEN}` }],
  ['the token, from a page of another site', 200, { ...bearer(TOKEN), origin: 'https://example.com' }],
  ['the token, with the Host of another site', 200, { ...bearer(TOKEN), host: 'example.com' }],
];
it.each(credentials)(
  'on a server with a token, a request with %s gets status %i',
  async (_, status, headers) => {
    const server = await startServer({ token: TOKEN });
    for (const [method, path] of [
      ['GET', '/metrics'],
      ['POST', '/reset'],
    ]) {
      const head = { connection: 'close', ...headers };
      const [response] = (await once(
        request(server.url + path, { method, headers: head }).end(),
        'response',
      )) as [IncomingMessage];
      expect(response.statusCode).toBe(status);
      expect(response.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
      // A refusal does not repeat the token.
      const body = (await response.toArray()).join('');
      if (status === 401) expect(body).not.toContain('secret');
    }
    expect((await sendRequest(server, 'GET', '/health')).status).toBe(200);
    expect((await sendRequest(server, 'GET', '/healthy')).status).toBe(401);
    for (const path of ['/ws', '/v1/vec']) {
      expect(await upgradeStatus(server, path, headers)).toBe(status === 200 ? 101 : status);
    }
  },
);

it('without a token, only pages of this machine may send requests', async () => {
  const server = await startServer();
  for (const [status, origins] of [
    [403, ['https://example.com', 'http://localhost.example.com', 'null']],
    [
      200,
      ['http://localhost:3000', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'http://app.localhost:3000'],
    ],
  ] as const) {
    for (const origin of origins) {
      const { status: got } = await sendRequest(server, 'POST', '/reset', null, { origin });
      const upgraded = await upgradeStatus(server, '/ws', { origin });
      expect([origin, got, upgraded]).toEqual([origin, status, status === 200 ? 101 : status]);
    }
  }
});

/** Sends a request with this head and a Connection header. Returns the first packet of the answer. */
async function answerTo({ port }: { port: number }, head: string[]): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(
    `${head.join('\r\n')}\r\nConnection: ${/upgrade/i.test(head.join()) ? 'Upgrade' : 'close'}\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

const WEBSOCKET = [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
];

const OWN_HOSTS = [
  ...['localhost', 'LocalHost:8000', 'localhost.:8000', 'rhythm.localhost:8000', '127.0.0.1'],
  ...['127.255.0.9:65535', '[::1]', '[::1]:8000', '[::ffff:7f00:1]:8000'],
];
const OTHER_HOSTS = [
  ...['example.com:8000', 'localhost.example.com', 'notlocalhost', '127.0.0.1.nip.io:8000', '128.0.0.1'],
  ...['0.0.0.0:8000', '192.168.0.1', '[::]', '[::2]', '[::ffff:c0a8:1]', 'localhost..', '..localhost'],
  ...['127.0.0.1@example.com', 'example.com@127.0.0.1', 'localhost/x', 'localhost?x'],
  ...['localhost localhost', 'localhost, localhost', ''],
];
it.each([
  ['accepts its own names', OWN_HOSTS, /^HTTP\/1\.1 200/, /^HTTP\/1\.1 404/, /^HTTP\/1\.1 101/],
  // An invalid host name is refused with 400.
  ['refuses other names', OTHER_HOSTS, /^HTTP\/1\.1 (403 |400)/, /^HTTP\/1\.1 (403 |400)/, /^HTTP\/1\.1 403/],
])('without a token, a server %s as Host', async (_, hosts, found, missing, upgraded) => {
  const server = await startServer();
  for (const host of hosts) {
    const statusOf = (target: string, more: string[] = []) =>
      answerTo(server, [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...more]);
    expect(await statusOf('/metrics'), host).toMatch(found);
    expect(await statusOf('/nowhere'), host).toMatch(missing);
    for (const path of ['/ws', '/v1/vec']) expect(await statusOf(path, WEBSOCKET), host).toMatch(upgraded);
  }
});

const GET = 'GET /metadata HTTP/1.1';
const [OWN, OTHER] = ['Host: localhost', 'Host: example.com'];
const heads: [what: string, status: number, head: string[]][] = [
  ['two hosts, the second of another site', 403, [GET, OWN, OTHER]],
  ['two hosts, the first of another site', 403, [GET, OTHER, OWN]],
  ['a target of another site', 403, ['GET http://example.com/metadata HTTP/1.1', OWN]],
  ['a target of another site, over TLS', 403, ['GET https://example.com/metadata HTTP/1.1', OWN]],
  ['a target of this machine, another Host', 403, ['GET http://localhost/metadata HTTP/1.1', OTHER]],
  ['a target of this machine', 200, ['GET http://localhost:8000/metadata HTTP/1.1', OWN]],
  ['a target with credentials', 403, ['GET http://localhost@example.com/metadata HTTP/1.1', OWN]],
  ['HTTP/1.1 without a Host', 400, [GET]],
  ['HTTP/1.0 without a Host', 400, ['GET /metadata HTTP/1.0']],
  ['HTTP/1.0 with a Host of this machine', 200, ['GET /metadata HTTP/1.0', OWN]],
  ['an upgrade in HTTP/1.0 without a Host', 403, ['GET /ws HTTP/1.0', ...WEBSOCKET]],
  ['an upgrade with two hosts', 403, ['GET /ws HTTP/1.1', OWN, OTHER, ...WEBSOCKET]],
  ['an upgrade in mixed case', 101, ['GET /ws HTTP/1.1', OWN, 'Upgrade: WebSocket', ...WEBSOCKET.slice(1)]],
  ['an upgrade with a query', 101, ['GET /ws?x=1 HTTP/1.1', OWN, ...WEBSOCKET]],
  ['an upgrade on an unknown path', 404, ['GET /constructor HTTP/1.1', OWN, ...WEBSOCKET]],
  ['another upgrade', 400, ['GET /health HTTP/1.1', OWN, 'Upgrade: h2c']],
  ['another upgrade on an unknown path', 400, ['GET /nowhere HTTP/1.1', OWN, 'Upgrade: h2c']],
  ['the health route under any Host', 200, ['GET /health HTTP/1.1', OTHER]],
];
it('without a token, a server checks every name in the head of a request', async () => {
  const server = await startServer();
  for (const [what, status, head] of heads)
    expect(await answerTo(server, head), what).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  // The answer names the remedy.
  expect(await answerTo(server, [GET, 'Host: example.com:8000'])).toMatch(
    /got \\"example.com:8000\\". Send requests to http:..localhost, or start .* with a token, or with --insecure/,
  );
});

it.each(['127.0.0.1', '0.0.0.0'])(
  'an insecure server on %s accepts any Host, but refuses pages of other sites',
  async (host) => {
    const server = await startServer({ host, insecure: true });
    const head = ['GET /metadata HTTP/1.1', 'Host: rhythm.example.com'];
    expect(await answerTo(server, head)).toMatch(/^HTTP\/1\.1 200/);
    expect(await answerTo(server, [...head, 'Origin: http://rhythm.example.com'])).toMatch(/^HTTP\/1\.1 403/);
    const socket = ['GET /ws HTTP/1.1', 'Host: rhythm.example.com', ...WEBSOCKET];
    expect(await answerTo(server, socket)).toMatch(/^HTTP\/1\.1 101/);
  },
);

it('requires a token or insecure on addresses that other machines may reach', () => {
  const others = ['0.0.0.0', '192.168.0.1', '126.0.0.1', '12.7.0.1', '::', '::ffff:0.0.0.0', 'example.com'];
  for (const host of [...others, 'localhost.example.com']) {
    expect(() => toServeSettings({ host })).toThrow(/Expected a token for .*other machines may reach/);
    expect(toServeSettings({ host, insecure: true }).host).toBe(host);
    expect(toServeSettings({ host, token: TOKEN }).token).toBe(TOKEN);
  }
  const own = ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'];
  for (const host of own) expect(toServeSettings({ host }).token).toBeUndefined();
});

it('refuses a token that is too short, too long or has an invalid character, without repeating it', () => {
  const long = 'x'.repeat(4097);
  for (const token of ['short', `${TOKEN} with spaces`, `${TOKEN}\n`, `${TOKEN}é`, 'x'.repeat(15), long]) {
    expect(() => toServeSettings({ token })).toThrow(/16 to 4096 printable/);
    expect(() => toServeSettings({ token })).not.toThrow(token);
  }
  for (const length of [16, 4096])
    expect(toServeSettings({ token: '!'.repeat(length) }).token).toHaveLength(length);
});

const LIMITS: [name: keyof ServeOptions, low: number, high: number, byDefault: number][] = [
  ['port', 0, 65_535, 8000],
  ['capacity', 1, 65_536, 4096],
  ['bodyLimit', 1024, 512 * MIB, 64 * MIB],
  ['frameLimit', 1024, 8 * MIB, MIB],
  ['vecEnvs', 1, 16_777_216, 262_144],
  ['batchRequests', 1, 1024, 8],
  ['batchQueue', 0, 65_536, 1024],
  ['batchWaitMs', 10, 240_000, 60_000],
  ['pingMs', 10, 2_147_483_647, 30_000],
  ['idleMs', 10, 2_147_483_647, 900_000],
];
it.each(LIMITS)('accepts %s only from %i to %i, by default %i', (name, low, high, byDefault) => {
  for (const value of [low, high]) expect(toServeSettings({ [name]: value })[name]).toBe(value);
  expect(toServeSettings({})[name]).toBe(byDefault);
  const range = `Expected ${name} to be an integer from ${low} to ${high}`;
  for (const value of [low - 1, high + 1, low + 0.5])
    expect(() => toServeSettings({ [name]: value })).toThrow(range);
});

it('refuses unknown options, a host that is not a name, and a port that is in use', async () => {
  expect(() => toServeSettings({ prot: 8000 } as never)).toThrow(/Did you mean "port"/);
  expect(() => toServeSettings({ host: 8000 } as never)).toThrow(/Expected host to be a name/);
  const { port } = await startServer();
  await expect(startServer({ port })).rejects.toThrow(/EADDRINUSE/);
});
