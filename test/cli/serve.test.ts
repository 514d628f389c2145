/** `rhythm-vec serve` as a child process: address, token, shutdown, and the examples of its help. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { type Running, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { connect, occupy } from '../support/server.js';

const pathOf = temporaryDirectory();

/** Waits until the server prints its address. Returns the address. */
async function addressOf(running: Running): Promise<{ url: string; port: number }> {
  const [line] = (await once(running.child.stdout, 'data')) as [string];
  const [url] = /http:\S+/.exec(line)!;
  return { url, port: Number(new URL(url).port) };
}

it.each([
  ['SIGTERM', [], (running: Running) => running.child.kill('SIGTERM')],
  ['the end of its input', ['--stop-on-eof'], (running: Running) => running.child.stdin.end('ignored\n')],
] as const)('on %s, serve %j closes the sessions and exits with 0', async (_, options, stop) => {
  const running = startCli(['serve', '--port', '0', '--backend', 'reference', ...options]);
  const client = await connect(await addressOf(running));
  expect((await client.request({ type: 'reset', data: { seed: 3 } })).type).toBe('observation');
  stop(running);
  expect((await client.closed).code).toBe(1001);
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
});

/** Starts a server with a request whose answer is not read. */
async function startBusyServer(...args: string[]): Promise<Running> {
  const running = startCli(['serve', '--port', '0', '--backend', 'reference', ...args]);
  const server = await addressOf(running);
  await occupy(server);
  return running;
}

it('serve cuts off requests that take longer than --grace, and exits with 1', async () => {
  const running = await startBusyServer('--grace', '0.1');
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.finished;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: Expected all requests .* --grace 0.1, but \d/),
  ]);
});

it('a second signal ends the server at once', async () => {
  const running = await startBusyServer();
  running.child.kill('SIGTERM');
  await running.until('stdout', 'Finishing the requests');
  running.child.kill('SIGTERM');
  await running.finished;
  expect(running.child.signalCode).toBe('SIGTERM');
});

it('serve names the remedy if the address is in use, continues after the end of its input, and reads its token from the environment', async () => {
  const token = 'f'.repeat(32);
  const running = startCli(['serve', '--port', '0', '--backend', 'reference'], { RHYTHM_TOKEN: token });
  running.child.stdin.end();
  const { url, port } = await addressOf(running);
  const { code, stderr } = await runCli(['serve', '--port', String(port), '--backend', 'reference']);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/EADDRINUSE.*Pass another --port/)]);
  expect((await fetch(`${url}/metadata`)).status).toBe(401);
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${url}/metadata`, { headers })).status).toBe(200);
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(0);
});

it('the examples of the help of serve work, on a free port; one has a token in a file', async () => {
  const { stdout } = await runCli(['serve', '--help']);
  const [, text] = stdout.split('Examples:\n');
  const lines = text.trim().replaceAll('token.txt', pathOf('token.txt')).split(/\n +/);
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    if (!line.startsWith('rhythm-vec')) {
      execFileSync('bash', ['-c', line], { stdio: 'ignore' });
      continue;
    }
    // A free port: the default port may be in use.
    const running = startCli([...line.split(' ').slice(1), '--port', '0']);
    const { port } = await addressOf(running);
    const get = async (headers: Record<string, string> = {}) =>
      (await fetch(`http://127.0.0.1:${port}/metadata`, { headers })).status;
    const hasToken = line.includes('token');
    expect(await get()).toBe(hasToken ? 401 : 200);
    if (hasToken) {
      const token = readFileSync(pathOf('token.txt'), 'utf8').trim();
      expect(await get({ authorization: `Bearer ${token}` })).toBe(200);
    }
    running.child.kill('SIGTERM');
    expect((await running.finished).code).toBe(0);
  }
});

it('the command line starts without the packages of the server', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))],
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', packages: 'external' },
    ...{ metafile: true, write: false, outdir: 'out', logLevel: 'silent' },
  });
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const each of metafile.outputs[path]?.imports ?? []) {
      if (each.kind === 'import-statement') load(each.path);
    }
  };
  load('out/main.js');
  const packages = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  for (const name of ['hono', 'ws', 'prom-client', '@hono/node-server']) {
    expect(packages).toContain(name);
    expect([...loaded]).not.toContain(name);
  }
  expect([...loaded]).toContain('commander');
});
