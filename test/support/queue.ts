/** Queue commands at a Redis of the test: workers and collectors as child processes, others in this process. */
import { readFileSync } from 'node:fs';
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

/** Starts a worker, which takes over the shards of a dead worker after two seconds. */
export const startWorker = (server: RedisServer, ...args: string[]): Running =>
  startCli(['queue', 'work', '--lease', '2', ...args], server.environment);

/** Starts a collector. */
export const startCollector = (server: RedisServer, name: string, path: string): Running =>
  startCli(['queue', 'collect', name, '--output', path], server.environment);

/** Stops workers, and waits until they have ended. */
export async function stop(...running: readonly Running[]): Promise<void> {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ finished }) => finished));
}

export const read = (path: string): string => readFileSync(path, 'utf8');
