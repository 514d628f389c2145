/** Processes of their own, for what only a fresh one can tell. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { now } from './clock.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const execute = promisify(execFile);

export interface Ended {
  readonly stdout: string;
  /** Wall time, from before the process is started until it has ended. */
  readonly ns: number;
}

/** Runs Node with these arguments in the package's folder. Rejects unless it ends well. */
export async function runNode(args: readonly string[]): Promise<Ended> {
  const start = now();
  const { stdout } = await execute(process.execPath, args, { cwd: ROOT });
  return { stdout, ns: now() - start };
}
