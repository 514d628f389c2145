/** Runs commands in this process, or in a child process where a test is about the process itself. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { runCommand } from '../../src/cli/commands.js';

/** The bundled command of the package. test/support/compiled.ts builds it again when the source has changed. */
export const MAIN = fileURLToPath(new URL('../../lib/cli.js', import.meta.url));

/** The option that turns progress off: on a slow machine a command would write lines of progress. */
const QUIET = '--quiet';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly finished: Promise<CommandResult>;
  /** Waits until the stream contains `wanted`. @returns the match and its groups. Rejects if the process ends first. */
  until(stream: 'stdout' | 'stderr', wanted: string | RegExp): Promise<readonly string[]>;
}

/** Starts a command in a child process. */
export function startCli(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [MAIN, QUIET, ...args], {
    env: { ...process.env, ...env },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  child.stdin.on('error', () => {});
  const finished = new Promise<CommandResult>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  const until = (stream: 'stdout' | 'stderr', wanted: string | RegExp) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const resolveIfFound = () => {
        const match = find(wanted, output[stream]);
        if (match !== null) resolve(match);
      };
      child[stream].on('data', resolveIfFound);
      finished.then((end) => reject(new Error(`ended without ${wanted}: ${JSON.stringify(end)}`)));
      resolveIfFound();
    });
  return { child, finished, until };
}

function find(wanted: string | RegExp, text: string): readonly string[] | null {
  if (typeof wanted === 'string') return text.includes(wanted) ? [wanted] : null;
  return wanted.exec(text);
}

/**
 * Starts a command in a child process, which sends itself a signal when it has renamed a file to `path` for the `count`th time.
 */
export function startStopped(
  args: readonly string[],
  { signal, path, count = 1 }: { signal: 'SIGKILL' | 'SIGINT'; path: string; count?: number },
): Running {
  const code = `
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs/promises';
    const { rename } = fs;
    let left = ${count};
    fs.rename = async (from, to) => {
      await rename(from, to);
      if (to !== ${JSON.stringify(path)} || --left !== 0) return;
      process.kill(process.pid, '${signal}');
      // The command continues after it has received the signal. The timer keeps the process alive until then.
      const timer = setInterval(() => {}, 1000);
      await new Promise((resolve) => process.once('${signal}', resolve));
      clearInterval(timer);
    };
    syncBuiltinESMExports();`;
  return startCli(args, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });
}

/** Runs a command in a child process to its end. */
export function runCliProcess(
  args: readonly string[],
  stdin = '',
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const { child, finished } = startCli(args, env);
  child.stdin.end(stdin);
  return finished;
}

/** Settles when the last command of this process has ended. */
let previous: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, one at a time. `env` is added to the environment variables while it runs. */
export function runCli(
  args: readonly string[],
  stdin = '',
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const run = previous.then(() => runInProcess(args, stdin, env));
  previous = run.catch(() => {});
  return run;
}

async function runInProcess(
  args: readonly string[],
  stdin: string,
  env: Record<string, string>,
): Promise<CommandResult> {
  const before = {
    env: process.env,
    exitCode: process.exitCode,
    stdin: Object.getOwnPropertyDescriptor(process, 'stdin'),
  };
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  process.env = { ...before.env, ...env };
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(stdin)]) });
  try {
    const code = await runCommand([QUIET, ...args], new AbortController().signal);
    return { code: Number(process.exitCode ?? 0) || code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.release();
    stderr.release();
    process.env = before.env;
    process.exitCode = before.exitCode;
    if (before.stdin !== undefined) Object.defineProperty(process, 'stdin', before.stdin);
  }
}

/** Captures what is written to a stream until `release`. */
function capture(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const chunks: Buffer[] = [];
  const write = stream.write;
  stream.write = (
    data: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ) => {
    chunks.push(Buffer.from(data as Uint8Array));
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback !== undefined) process.nextTick(callback);
    return true;
  };
  return {
    text: () => Buffer.concat(chunks).toString('utf8'),
    release() {
      stream.write = write;
    },
  };
}

/** Creates a directory, which is removed after the file's tests. @returns the path of a file in it, by name. */
export function temporaryDirectory(): (name: string) => string {
  // Resolves links, because commands resolve them before they rename a file, and `startStopped` compares paths.
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'rhythm-vec-')));
  afterAll(() => rmSync(directory, { recursive: true }));
  return (name) => join(directory, name);
}

/** Parses JSON lines. */
export const fromLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
