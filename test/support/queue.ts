/** Runs queue commands with a Redis server of the test: in this process, or in child processes that a test can kill. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { releaseHere } from '../../src/cli/queue/queue-options.js';
import { work } from '../../src/server/queue/worker.js';
import type { FakeOpenAi } from '../fakes/openai.js';
import { type Running, runCli, startCli } from './cli.js';
import type { RedisServer } from './redis.js';

/** Runs a queue command. @throws Error with its standard error if it fails. @returns its standard output. */
export async function runQueue(server: RedisServer, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(['queue', ...args], '', server.environment);
  if (code !== 0) throw new Error(`queue ${args.join(' ')}: exit code ${code}: ${stderr}`);
  return stdout;
}

/** Submits a job. @returns its name. */
export const submit = async (server: RedisServer, ...args: string[]): Promise<string> =>
  (await runQueue(server, 'submit', ...args)).trimEnd().split('\n').at(-1)!;

/** Returns the status of a job. */
export const statusOf = async (server: RedisServer, name: string, ...args: string[]) =>
  JSON.parse(await runQueue(server, 'status', name, '--json', ...args));

/** Returns the lines that a command of teach writes without a queue. @param env added to the environment variables. */
export async function linesOf(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'lines.jsonl');
  const { code, stderr } = await runCli([...args, '--output', path], '', env);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`);
  return read(path);
}

export interface WorkerHere {
  /** What the worker does and what goes wrong: the lines that the command writes to its standard error. */
  readonly notes: readonly string[];
  /** Resolves to the number of computed shards when the worker has ended. */
  readonly finished: Promise<number>;
  /** Waits for a note that matches. */
  note(wanted: RegExp): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkHereOptions {
  readonly prefix?: string;
  /** Seconds after which other workers take over the shards of a worker that no longer answers. */
  readonly lease?: number;
  readonly untilEmpty?: boolean;
}

/** The program that the threads of a worker run, as bundled: it loads in half the time of its modules in `dist`. */
const PROGRAM = new URL('../../lib/shard-program.js', import.meta.url);

/** Starts a worker in this process, as `queue work` does. Its threads compute. It ends with the test. */
export function workHere(server: RedisServer, options: WorkHereOptions = {}): WorkerHere {
  const { prefix = 'rhythm-vec', lease = 30, untilEmpty = false } = options;
  const ending = new AbortController();
  const notes: string[] = [];
  const waiting = new Set<() => void>();
  const finished = work(
    {
      address: { url: server.url, prefix },
      release: releaseHere(),
      program: PROGRAM,
      concurrency: 1,
      engine: { backend: 'native', threads: 1 },
      leaseMs: 1000 * lease,
      untilEmpty,
      onNote: (note) => {
        notes.push(note);
        for (const check of waiting) check();
      },
    },
    ending.signal,
  );
  const stop = async (): Promise<void> => {
    ending.abort();
    await finished.catch(() => {});
  };
  onTestFinished(stop);
  const note = (wanted: RegExp) =>
    new Promise<void>((resolve) => {
      const check = (): void => {
        if (!notes.some((each) => wanted.test(each))) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { notes, finished, note, stop };
}

/** Starts a worker in this process, whose threads use a fake endpoint. */
export function workWith(server: RedisServer, fake: FakeOpenAi, options?: WorkHereOptions): WorkerHere {
  for (const [name, value] of Object.entries(fake.environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return workHere(server, options);
}

/** Starts a worker as a child process, with a lease of two seconds. */
export const startWorker = (server: RedisServer, ...args: string[]): Running =>
  start(['queue', 'work', '--lease', '2', ...args], server);

/** Starts a collector as a child process. */
export const startCollector = (server: RedisServer, name: string, path: string): Running =>
  start(['queue', 'collect', name, '--output', path], server);

function start(args: string[], server: RedisServer): Running {
  const running = startCli(args, server.environment);
  onTestFinished(() => stop(running));
  return running;
}

/** Kills child processes, and waits until they have ended. */
export async function stop(...running: readonly Running[]): Promise<void> {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ finished }) => finished));
}

export const read = (path: string): string => readFileSync(path, 'utf8');
