/** Child processes, for measurements that need a fresh process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { now } from './clock.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const execute = promisify(execFile);

/** The result of a child process. */
export interface ChildResult {
  readonly stdout: string;
  /** Wall time of the process, from before its start to its end. */
  readonly ns: number;
}

/** Runs Node with these arguments in the package's folder. Rejects if it fails. */
export async function runNode(args: readonly string[]): Promise<ChildResult> {
  const start = now();
  const { stdout } = await execute(process.execPath, args, { cwd: ROOT });
  return { stdout, ns: now() - start };
}
