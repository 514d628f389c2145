/**
 * Runs Python scripts in forks of a process that has imported their libraries. Importing TRL takes 12 s of processor time,
 * and Gymnasium 0.7 s; a fork takes neither. A fork has the arguments, environment, folder and streams of the command.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

const FILE = fileURLToPath(new URL('fork_server.py', import.meta.url));

declare module 'vitest' {
  interface ProvidedContext {
    /** The sockets of the servers that the global setup has started, by the modules that they import. */
    forkServers: Readonly<Record<string, string>>;
  }
}

/** Returns the command that runs scripts: in forks of the server of these modules if one was started, else with `python`. */
export function forkCommand(python: string, modules: readonly string[]): readonly string[] {
  const socket = inject('forkServers')?.[modules.join()];
  // -S leaves out the folder of packages, which takes a third of the time of starting Python.
  return socket === undefined ? [python] : [python, '-I', '-S', FILE, 'run', socket];
}

/**
 * Starts a server, which imports the modules when its first script runs.
 * @param modules what the server imports. Modules that read the environment when they are imported get that of the server.
 * @returns its socket.
 */
export function startForkServer(python: string, modules: readonly string[], env: NodeJS.ProcessEnv): string {
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-fork-'));
  const socket = join(folder, 'socket');
  const server = spawn(python, [FILE, 'serve', socket, ...modules], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  // Ignores that Python is missing: a test that runs Python reports it.
  server.on('error', () => {});
  // The server ends with this process, which does not wait for it.
  server.unref();
  (server.stdin as unknown as { unref(): void }).unref();
  return socket;
}
