/**
 * Runs Python scripts in forks of a process that has imported their libraries. Importing TRL takes 12 s of processor time,
 * and Gymnasium 0.7 s; a fork takes neither. A fork has the arguments, environment, folder and streams of the command.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('fork_server.py', import.meta.url));

const shared: { forkServers?: Map<string, string> } = globalThis as object;
shared.forkServers ??= new Map();
/** The sockets of the servers of this process, by the modules that they have imported. Files of tests share them. */
const sockets = shared.forkServers;

/**
 * Returns a command that does what `python` does, in a fork where that is safe.
 * @param modules what the server imports. Modules that read the environment when they are imported get that of the server.
 * @param env the environment of the server, if it does not run yet.
 */
export function forkCommand(
  python: string,
  modules: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  // Forking a process with Apple's libraries is not safe, and Windows has no fork.
  if (process.platform !== 'linux') return [python];
  const key = modules.join();
  const socket = sockets.get(key) ?? startServer(python, modules, env);
  sockets.set(key, socket);
  // Without the folder of packages, which takes a third of the time of starting Python.
  return [python, '-I', '-S', FILE, 'run', socket];
}

function startServer(python: string, modules: readonly string[], env: NodeJS.ProcessEnv): string {
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-fork-'));
  const socket = join(folder, 'socket');
  const server = spawn(python, [FILE, 'serve', socket, ...modules], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  // Without Python, the command fails too.
  server.on('error', () => {});
  // The server ends with this process, which does not wait for it.
  server.unref();
  (server.stdin as unknown as { unref(): void }).unref();
  return socket;
}
