/** Access control: tokens, pages of other sites, public addresses; and invalid options of a server. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createConnection } from 'node:net';
import { expect, it } from 'vitest';
import { toServeSettings } from '../../src/server/server-options.js';
import { type Client, connect, sendRequest, startServer } from '../support/server.js';

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
  ['another token', 401, bearer(`${TOKEN}x`)],
  ['a token of the same length', 401, bearer(TOKEN.replace('s', 't'))],
  ['the beginning of the token', 401, bearer(TOKEN.slice(0, -1))],
  ['another scheme', 401, { authorization: `Basic ${TOKEN}` }],
  ['a scheme that ends in Bearer', 401, { authorization: `XBearer ${TOKEN}` }],
  ['the token', 200, bearer(TOKEN)],
  ['the scheme in lower case', 200, { authorization: `bearer ${TOKEN}` }],
  ['more than one space before the token', 200, { authorization: `BEARER   ${TOKEN}` }],
  ['the token, from a page of another site', 200, { ...bearer(TOKEN), origin: 'https://example.com' }],
  ['the token, with the Host of another site', 200, { ...bearer(TOKEN), host: 'example.com' }],
];
it.each(credentials)(
  'on a server with a token, a request with %s gets status %i',
  async (_, status, headers) => {
    const server = await startServer({ token: TOKEN });
    for (const [method, path] of [
      ['GET', '/metadata'],
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

const origins: [origin: string, status: number][] = [
  ['https://example.com', 403],
  ['http://localhost.example.com', 403],
  ['null', 403],
  ['http://localhost:3000', 200],
  ['http://127.0.0.1:8000', 200],
  ['http://[::1]:8000', 200],
  ['http://app.localhost:3000', 200],
];
it.each(origins)('without a token, the Origin %s gets status %i', async (origin, status) => {
  const server = await startServer();
  expect((await sendRequest(server, 'POST', '/reset', null, { origin })).status).toBe(status);
  expect(await upgradeStatus(server, '/ws', { origin })).toBe(status === 200 ? 101 : status);
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

const hosts: [host: string, isOwn: boolean][] = [
  ['localhost', true],
  ['localhost:1', true],
  ['LocalHost:8000', true],
  ['localhost.:8000', true],
  ['rhythm.localhost:8000', true],
  ['127.0.0.1', true],
  ['127.255.0.9:65535', true],
  ['[::1]:8000', true],
  ['[::1]', true],
  ['[::ffff:7f00:1]:8000', true],
  ['example.com', false],
  ['example.com:8000', false],
  ['localhost.example.com:8000', false],
  ['notlocalhost', false],
  ['127.0.0.1.example.com', false],
  ['127.0.0.1.nip.io:8000', false],
  ['128.0.0.1', false],
  ['0.0.0.0:8000', false],
  ['192.168.0.1:8000', false],
  ['[::]', false],
  ['[::2]', false],
  ['[::ffff:c0a8:1]', false],
  ['localhost..', false],
  ['..localhost', false],
  ['127.0.0.1@example.com', false],
  ['example.com@127.0.0.1', false],
  ['localhost/x', false],
  ['localhost?x', false],
  ['localhost localhost', false],
  ['localhost, localhost', false],
  ['', false],
];
const answers = hosts.map(([host, isOwn]) => [host, isOwn ? 'accepted' : 'refused', isOwn] as const);
it.each(answers)('without a token, the Host %j is %s', async (host, _, isOwn) => {
  const server = await startServer();
  for (const target of ['/metadata', '/metrics', '/nowhere']) {
    const answer = await answerTo(server, [`GET ${target} HTTP/1.1`, `Host: ${host}`]);
    // An invalid host name is refused with 400.
    const forbidden = /^HTTP\/1\.1 (403 Forbidden|400)/;
    if (isOwn) expect(answer).toMatch(target === '/nowhere' ? /^HTTP\/1\.1 404/ : /^HTTP\/1\.1 200/);
    else expect(answer).toMatch(forbidden);
  }
  for (const path of ['/ws', '/v1/vec']) {
    const answer = await answerTo(server, [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...WEBSOCKET]);
    expect(answer).toMatch(isOwn ? /^HTTP\/1\.1 101/ : /^HTTP\/1\.1 403/);
  }
});

const heads: [what: string, status: number, head: string[]][] = [
  [
    'two hosts, the second of another site',
    403,
    ['GET /metadata HTTP/1.1', 'Host: localhost', 'Host: example.com'],
  ],
  [
    'two hosts, the first of another site',
    403,
    ['GET /metadata HTTP/1.1', 'Host: example.com', 'Host: localhost'],
  ],
  ['a target of another site', 403, ['GET http://example.com/metadata HTTP/1.1', 'Host: localhost']],
  [
    'a target of another site, over TLS',
    403,
    ['GET https://example.com/metadata HTTP/1.1', 'Host: localhost'],
  ],
  [
    'a target of this machine, a Host of another site',
    403,
    ['GET http://localhost/metadata HTTP/1.1', 'Host: example.com'],
  ],
  ['a target of this machine', 200, ['GET http://localhost:8000/metadata HTTP/1.1', 'Host: localhost']],
  [
    'a target with credentials',
    403,
    ['GET http://localhost@example.com/metadata HTTP/1.1', 'Host: localhost'],
  ],
  ['HTTP/1.1 without a Host', 400, ['GET /metadata HTTP/1.1']],
  ['HTTP/1.0 without a Host', 400, ['GET /metadata HTTP/1.0']],
  ['HTTP/1.0 with a Host of this machine', 200, ['GET /metadata HTTP/1.0', 'Host: localhost']],
  ['an upgrade in HTTP/1.0 without a Host', 403, ['GET /ws HTTP/1.0', ...WEBSOCKET]],
  [
    'an upgrade with two hosts',
    403,
    ['GET /ws HTTP/1.1', 'Host: localhost', 'Host: example.com', ...WEBSOCKET],
  ],
  [
    'an upgrade in mixed case',
    101,
    ['GET /ws HTTP/1.1', 'Host: localhost', 'Upgrade: WebSocket', ...WEBSOCKET.slice(1)],
  ],
  ['an upgrade with a query', 101, ['GET /ws?x=1 HTTP/1.1', 'Host: localhost', ...WEBSOCKET]],
  ['the health route under any Host', 200, ['GET /health HTTP/1.1', 'Host: example.com']],
];
it.each(heads)('without a token, a request with %s gets status %i', async (_, status, head) => {
  const answer = await answerTo(await startServer(), head);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

it('the answer to a refused Host names the remedy', async () => {
  const server = await startServer();
  const answer = await answerTo(server, ['GET /metadata HTTP/1.1', 'Host: example.com:8000']);
  expect(answer).toContain(
    JSON.stringify({
      detail:
        'Expected a Host of this machine (localhost, 127.0.0.1 or [::1]), got "example.com:8000". ' +
        'Send requests to http://localhost, or start the server with a token, or with --insecure.',
    }),
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

it('refuses upgrades to other protocols on every path, and names the reason', async () => {
  const server = await startServer();
  for (const path of ['/health', '/ws', '/nowhere']) {
    const upgradeRequest = request(server.url + path, { headers: { connection: 'Upgrade', upgrade: 'h2c' } });
    const [response] = (await once(upgradeRequest.end(), 'response')) as [IncomingMessage];
    const [body] = (await once(response, 'data')) as [Buffer];
    expect([response.statusCode, body.toString()]).toEqual([400, expect.stringContaining('another upgrade')]);
  }
});

it('refuses an upgrade on an unknown path', async () => {
  expect(await upgradeStatus(await startServer(), '/constructor')).toBe(404);
});

it.each([
  '0.0.0.0',
  '192.168.0.1',
  '126.0.0.1',
  '12.7.0.1',
  '::',
  '::ffff:0.0.0.0',
  'example.com',
  'localhost.example.com',
])('requires a token or insecure on the address %s', (host) => {
  expect(() => toServeSettings({ host })).toThrow(/Expected a token for .*other machines may reach/);
  expect(toServeSettings({ host, insecure: true }).host).toBe(host);
  expect(toServeSettings({ host, token: TOKEN }).token).toBe(TOKEN);
});

it.each(['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'])(
  'requires no token on the address %s',
  (host) => {
    expect(toServeSettings({ host }).token).toBeUndefined();
  },
);

it('refuses a token that is too short, too long or has an invalid character, without repeating it', () => {
  for (const token of [
    'short',
    `${TOKEN} with spaces`,
    `${TOKEN}\n`,
    `${TOKEN}é`,
    'x'.repeat(15),
    'x'.repeat(4097),
  ]) {
    expect(() => toServeSettings({ token })).toThrow(/16 to 4096 printable/);
    expect(() => toServeSettings({ token })).not.toThrow(token);
  }
  for (const length of [16, 4096])
    expect(toServeSettings({ token: '!'.repeat(length) }).token).toHaveLength(length);
});

it.each([
  [{ port: 65536 }, /Expected port to be an integer from 0 to 65535/],
  [{ capacity: 0 }, /Expected capacity/],
  [{ capacity: 2 ** 16 + 1 }, /Expected capacity to be an integer from 1 to 65536/],
  [{ bodyLimit: 1.5 }, /Expected bodyLimit/],
  [{ idleMs: 2 ** 31 }, /Expected idleMs/],
  [{ prot: 8000 }, /Did you mean "port"/],
  [{ host: 8000 }, /Expected host to be a name/],
])('refuses the invalid option %j', (options, message) => {
  expect(() => toServeSettings(options as never)).toThrow(message);
});

it('fails if the port is in use', async () => {
  const { port } = await startServer();
  await expect(startServer({ port })).rejects.toThrow(/EADDRINUSE/);
});
