/** The real command line, as a child process. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly finished: Promise<Finished>;
  /** Once it has written `wanted` to a stream: the match and its groups. Fails if it ends before. */
  until(stream: 'stdout' | 'stderr', wanted: string | RegExp): Promise<readonly string[]>;
}

export function startCli(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    env: { ...process.env, ...env },
  });
  const seen = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text;
    });
  }
  child.stdin.on('error', () => {});
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => resolve({ code, ...seen }));
  });
  const until = (stream: 'stdout' | 'stderr', wanted: string | RegExp) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const look = () => {
        const found = find(wanted, seen[stream]);
        if (found !== null) resolve(found);
      };
      child[stream].on('data', look);
      finished.then((end) => reject(new Error(`ended without ${wanted}: ${JSON.stringify(end)}`)));
      look();
    });
  return { child, finished, until };
}

function find(wanted: string | RegExp, text: string): readonly string[] | null {
  if (typeof wanted === 'string') return text.includes(wanted) ? [wanted] : null;
  return wanted.exec(text);
}

export function runCli(
  args: readonly string[],
  stdin = '',
  env: Record<string, string> = {},
): Promise<Finished> {
  const { child, finished } = startCli(args, env);
  child.stdin.end(stdin);
  return finished;
}

/** A directory for a test file's outputs, removed when it has run. */
export function temporaryDirectory(): (name: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  return (name) => join(directory, name);
}

/** The rows of a file of JSON lines. */
export const fromLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
