/** `rhythm-vec serve` as a child process: address, token, refused arguments, shutdown, and the examples of its help. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
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

it.each(['SIGTERM', 'SIGINT'] as const)(
  'on %s, serve closes the sessions and exits with 0',
  async (signal) => {
    const running = startCli(['serve', '--port', '0', '--backend', 'reference']);
    const server = await addressOf(running);
    const client = await connect(server);
    expect((await client.request({ type: 'reset', data: { seed: 3 } })).type).toBe('observation');
    running.child.kill(signal);
    expect((await client.closed).code).toBe(1001);
    expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
  },
);

it.each([
  ['the end of its input', (running: Running) => running.child.stdin.end('ignored\n')],
  ['SIGTERM', (running: Running) => running.child.kill('SIGTERM')],
] as const)('with --stop-on-eof, %s ends the command with exit code 0', async (_, stop) => {
  const running = startCli(['serve', '--port', '0', '--backend', 'reference', '--stop-on-eof']);
  const client = await connect(await addressOf(running));
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

it('without --stop-on-eof, the server continues after the end of its input', async () => {
  const running = startCli(['serve', '--port', '0', '--backend', 'reference']);
  running.child.stdin.end();
  const { url } = await addressOf(running);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  running.child.kill('SIGTERM');
  expect((await running.finished).code).toBe(0);
});

it('serve reads its token from a file or from the environment', async () => {
  const token = 'f'.repeat(32);
  writeFileSync(pathOf('token'), `${token}\n`);
  const sources: [string[], Record<string, string>][] = [
    [['--token-file', pathOf('token')], {}],
    [[], { RHYTHM_TOKEN: token }],
  ];
  for (const [args, env] of sources) {
    const running = startCli(['serve', '--port', '0', ...args], env);
    const { url } = await addressOf(running);
    expect((await fetch(`${url}/metadata`)).status).toBe(401);
    expect((await fetch(`${url}/metadata`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    );
    running.child.kill('SIGTERM');
    expect((await running.finished).code).toBe(0);
  }
});

it('the examples of the help of serve work, on a free port', async () => {
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
    const { status } = await fetch(`http://127.0.0.1:${port}/metadata`);
    expect(status).toBe(line.includes('token') ? 401 : 200);
    running.child.kill('SIGTERM');
    expect((await running.finished).code).toBe(0);
  }
});

writeFileSync(pathOf('empty'), '\n');
const refused: [what: string, args: string[], message: RegExp][] = [
  ['an empty token', ['--token-file', pathOf('empty')], /empty file.*openssl/],
  ['a capacity of 0', ['--capacity', '0'], /Expected capacity to be an integer from 1/],
  ['a limit that is not a number', ['--body-limit', 'much'], /Expected a number/],
  ['an unknown kernel', ['--kernel', 'mmx'], /--kernel/],
];
it.each(refused)('serve refuses %s', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(['serve', ...args]);
  expect([code === 0, stdout]).toEqual([false, '']);
  expect(stderr).toMatch(message);
});

it('serve names the remedy if the address is in use', async () => {
  const running = startCli(['serve', '--port', '0', '--backend', 'reference']);
  const { port } = await addressOf(running);
  const { code, stderr } = await runCli(['serve', '--port', String(port), '--backend', 'reference']);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/EADDRINUSE.*Pass another --port/)]);
  running.child.kill('SIGTERM');
  await running.finished;
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
