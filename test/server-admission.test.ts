/** Who may ask: tokens, pages of other sites, and addresses that others reach. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { toServeSettings } from '../src/server/options.js';
import { ask, type Client, connect, startServer } from './support/server.js';

const TOKEN = '0123456789abcdef-secret';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The status that an upgrade is answered with; 101 for one that is made. */
async function upgradeStatus(...args: Parameters<typeof connect>): Promise<number> {
  try {
    const client: Client = await connect(...args);
    client.socket.terminate();
    return 101;
  } catch (error) {
    return Number(/Unexpected server response: (\d+)/.exec((error as Error).message)![1]);
  }
}

const credentials: [what: string, headers: Record<string, string>, status: number][] = [
  ['no token', {}, 401],
  ['another token', bearer(`${TOKEN}x`), 401],
  ['a token of the same length', bearer(TOKEN.replace('s', 't')), 401],
  ['the beginning of the token', bearer(TOKEN.slice(0, -1)), 401],
  ['another scheme', { authorization: `Basic ${TOKEN}` }, 401],
  ['the token', bearer(TOKEN), 200],
  ['the token, from a page', { ...bearer(TOKEN), origin: 'https://example.com' }, 200],
];
it.each(credentials)('with a token, %s', async (_, headers, status) => {
  const server = await startServer({ token: TOKEN });
  for (const [method, path] of [
    ['GET', '/metadata'],
    ['GET', '/metrics'],
    ['POST', '/reset'],
  ]) {
    const answered = await ask(server, method, path, null, headers);
    expect(answered.status).toBe(status);
    // What was sent is not repeated, and what is expected is not told.
    if (status === 401) expect(JSON.stringify(answered.body)).not.toContain('secret');
  }
  expect((await ask(server, 'GET', '/health', null, headers)).status).toBe(200);
  for (const path of ['/ws', '/v1/vec']) {
    expect(await upgradeStatus(server, path, headers)).toBe(status === 200 ? 101 : status);
  }
});

const origins: [origin: string, status: number][] = [
  ['https://example.com', 403],
  ['http://localhost.example.com', 403],
  ['null', 403],
  ['http://localhost:3000', 200],
  ['http://127.0.0.1:8000', 200],
  ['http://[::1]:8000', 200],
];
it.each(origins)('without a token, a page of %s', async (origin, status) => {
  const server = await startServer();
  expect((await ask(server, 'POST', '/reset', null, { origin })).status).toBe(status);
  expect(await upgradeStatus(server, '/ws', { origin })).toBe(status === 200 ? 101 : status);
});

it('another upgrade than to a WebSocket is told what there is, on every path', async () => {
  const server = await startServer();
  for (const path of ['/health', '/ws', '/nowhere']) {
    const asked = request(server.url + path, { headers: { connection: 'Upgrade', upgrade: 'h2c' } });
    const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
    const [body] = (await once(response, 'data')) as [Buffer];
    expect([response.statusCode, body.toString()]).toEqual([400, expect.stringContaining('another upgrade')]);
  }
});

it('a path that leads nowhere is no socket', async () => {
  expect(await upgradeStatus(await startServer(), '/constructor')).toBe(404);
});

it.each(['0.0.0.0', '192.168.0.1', '::', 'example.com'])(
  '%s needs a token, or to be called insecure',
  (host) => {
    expect(() => toServeSettings({ host })).toThrow(/Expected a token for .*others may reach/);
    expect(toServeSettings({ host, insecure: true }).host).toBe(host);
    expect(toServeSettings({ host, token: TOKEN }).token).toBe(TOKEN);
  },
);

it.each(['127.0.0.1', '127.9.9.9', 'localhost', '::1'])('%s does not', (host) => {
  expect(toServeSettings({ host }).token).toBeUndefined();
});

it('a token that is short, or no header could hold, is refused and not repeated', () => {
  for (const token of ['short', `${TOKEN} with spaces`, `${TOKEN}\n`, `${TOKEN}é`, 'x'.repeat(5000)]) {
    expect(() => toServeSettings({ token })).toThrow(/16 to 4096 printable/);
    expect(() => toServeSettings({ token })).not.toThrow(token);
  }
});

it.each([
  [{ port: 65536 }, /Expected port to be an integer from 0 to 65535/],
  [{ capacity: 0 }, /Expected capacity/],
  [{ bodyLimit: 1.5 }, /Expected bodyLimit/],
  [{ idleMs: 2 ** 31 }, /Expected idleMs/],
  [{ prot: 8000 }, /Did you mean "port"/],
  [{ host: 8000 }, /Expected host to be a name/],
])('%j is refused', (options, says) => {
  expect(() => toServeSettings(options as never)).toThrow(says);
});

it('an address that is taken is an error, and nothing stays open', async () => {
  const { port } = await startServer();
  await expect(startServer({ port })).rejects.toThrow(/EADDRINUSE/);
});
