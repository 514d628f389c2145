/** rhythm_vec.serve: finds the command, starts a server for a block, and leaves nothing running. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { MAIN, temporaryDirectory } from '../support/cli.js';
import { askPythonAsync, startPython, whyAbsent } from '../support/python.js';
import { connect } from '../support/server.js';

const SCRIPT = 'client/serving.py';
const ask = <Answer>(task: string, values: object = {}): Promise<Answer> =>
  askPythonAsync(SCRIPT, { task, ...values });

const absent = whyAbsent('python', '3.9 or later', SCRIPT, { task: 'failures', cases: [] });
if (absent !== null) test.skip(`rhythm_vec.serve: NOT TESTED here: ${absent}`, () => {});

const pathOf = temporaryDirectory();
const command = [process.execPath, MAIN];
const token = 'token-of-the-server';

/** Writes an executable script. @returns its path. */
function writeScript(name: string, text: string): string {
  const path = pathOf(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** The total of the row that the script scores. */
const TOTAL = 1.2495855;

/** A command that, like npx, starts the server as a child, but forwards no signals. */
const wrapper = writeScript('wrapper', `#!/bin/sh\n"${process.execPath}" "${MAIN}" "$@"\nexit $?\n`);

interface Blocks {
  readonly urls: readonly string[];
  readonly totals: readonly (readonly number[])[];
  /** After each block: whether child processes run, the error of a request, and the number of Python threads. */
  readonly left: readonly [children: boolean, error: string, threads: number][];
}

describe.runIf(absent === null)('serve', () => {
  it.each([
    ['a command with a child of its own, as npx', { command: [wrapper] }],
    [
      'the command of the checkout, options and a token',
      { token, threads: 1, kernel: 'portable', body_limit: 1.5, ping: 2.5, idle: 60 },
    ],
  ])('runs a server during a block, which may raise an error: %s', async (_, options) => {
    const { urls, totals, left } = await ask<Blocks>('block', { options });
    expect(urls).toEqual([1, 2].map(() => expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)));
    expect(totals).toEqual([[TOTAL], [TOTAL]]);
    expect(left).toEqual([1, 2].map(() => [false, 'ServerUnavailableError', 1]));
  });

  it('passes the token to the server, and batches above its body limit are scored', async () => {
    const options = { command, token, body_limit: 0.001 };
    const refused = await ask('refused', { options, rows: 100, clients: [{}, { token }] });
    // The client halves batches that exceed the server's body limit.
    expect(refused).toEqual([['RefusedError', expect.stringMatching(/got 401/)], null]);
  });

  it.each([
    ['the command', 'SIGTERM', undefined],
    ['a command with a child of its own', 'SIGKILL', wrapper],
  ] as const)('stops when Python is killed: %s, %s', async (_, signal, variable) => {
    const script = 'test/peers/client/serving.py';
    const python = startPython(script, [], { RHYTHM_COMMAND: variable ?? `"${command.join('" "')}"` });
    python.stdin.write('{"task": "serve_until_input_ends"}\n');
    const url = await new Promise<string>((resolve) =>
      python.stdout.once('data', (line) => resolve(`${line}`)),
    );
    const session = await connect({ port: Number(new URL(url).port) });
    python.kill(signal);
    expect((await session.closed).code).toBe(1001);
  });

  it('kills a command that ignores all requests to stop, and reports a command that ended early', async () => {
    expect(await ask('stop_failing_servers')).toEqual({
      left: false,
      logged: [expect.stringMatching(/^The server ended before its block, with exit status 3/)],
    });
  });

  it('raises an error with the reason if the server does not start', async () => {
    const silent = ['python3', '-c', 'import sys; sys.stdin.read()'];
    const failing = ['python3', '-c', 'raise SystemExit("no space left")'];
    const cases: [options: object, message: RegExp][] = [
      [{ command, threads: -1 }, /to start a server, got exit status \d+\. .*standard error:\n.*--threads/s],
      [{ command: failing }, /^Expected `python3 .*got exit status 1\..*command=.*\nno space left$/s],
      [{ command: silent, start_s: 0.05 }, /got no address within 0\.05 s/],
      [{ command: [pathOf('nothing')] }, /got FileNotFoundError.*command=/],
    ];
    const results = await ask<[string, string, boolean][]>('failures', {
      cases: cases.map(([options]) => options),
    });
    expect(results).toEqual(
      cases.map(([, message]) => ['ServerUnavailableError', expect.stringMatching(message), false]),
    );
  });
});

it.runIf(absent === null)(
  'find_command returns the first command that it finds, else an error with the remedy',
  async () => {
    /** The file of rhythm_vec that finds the command, in a checkout. */
    const inCheckout = 'ROOT/clone/python/rhythm_vec/commands.py';
    const withoutNode = { RHYTHM_COMMAND: '', PATH: 'ROOT/none' };
    const withNode = { ...withoutNode, PATH: 'ROOT/node' };
    for (const name of ['path/rhythm-vec', 'project/node_modules/.bin/rhythm-vec', 'node/node', 'node/npx']) {
      writeScript(name, '#!/bin/sh\n');
    }
    mkdirSync(pathOf('project/a/b'), { recursive: true });
    mkdirSync(pathOf('clone/lib'), { recursive: true });
    writeFileSync(pathOf('clone/lib/cli.js'), '');
    mkdirSync(pathOf('unbuilt'));
    writeFileSync(pathOf('unbuilt/package.json'), '{}');
    const variable = { RHYTHM_COMMAND: 'node "ROOT/a b.js"', PATH: 'ROOT/path' };
    const cases: [input: object, expected: unknown][] = [
      [{ argument: ['npx', 'a b'], env: { RHYTHM_COMMAND: 'other' } }, ['npx', 'a b']],
      [{ argument: 'npx "a b"', env: withoutNode }, ['npx', 'a b']],
      [{ env: variable, cwd: 'project' }, ['node', 'ROOT/a b.js']],
      [{ env: { ...withoutNode, PATH: 'ROOT/path' }, cwd: 'project' }, ['ROOT/path/rhythm-vec']],
      // In a parent of the working directory.
      [
        { env: withNode, cwd: 'project/a/b', package: inCheckout },
        ['ROOT/project/node_modules/.bin/rhythm-vec'],
      ],
      [{ env: withNode, package: inCheckout }, ['ROOT/node/node', 'ROOT/clone/lib/cli.js']],
      [{ env: withNode, package: 'ROOT/site/rhythm_vec/commands.py' }, ['ROOT/node/npx', 'rhythm-vec']],
      [
        { env: withoutNode, package: inCheckout },
        expect.stringMatching(/ROOT\/clone\/lib\/cli\.js, and npx\. Install Node .*`npm install rhythm-vec`/),
      ],
      [
        { env: withoutNode, package: 'ROOT/unbuilt/python/rhythm_vec/commands.py' },
        expect.stringMatching(/ and run `npm ci` in ROOT\/unbuilt, or set RHYTHM_COMMAND\.$/),
      ],
    ];
    const root = pathOf('').replace(/\/$/, '');
    const found = await ask<unknown[]>('found', { root, cases: cases.map(([input]) => input) });
    expect(found).toEqual(cases.map(([, expected]) => expected));
  },
);
