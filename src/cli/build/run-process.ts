/** Runs a process and its children. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The end of a process. */
export interface Ended {
  /** Whether its exit code was 0. */
  readonly succeeded: boolean;
  /** What it printed. */
  readonly output: string;
}

const IS_WINDOWS = process.platform === 'win32';

/**
 * Runs a command in a folder. Does not throw if it cannot be started: the output says so.
 * @param onLine called for each printed line. @param signal ends the process and its children.
 */
export async function runProcess(
  [command, ...args]: readonly string[],
  cwd: string,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<Ended> {
  // Detached, so that it leads a group, which also has its children.
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !IS_WINDOWS,
    windowsHide: true,
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  const end = () => endGroup(child.pid);
  signal?.addEventListener('abort', end);
  const succeeded = await new Promise<boolean>((resolve) => {
    child.on('error', (error) => lines.push(error.message));
    child.on('close', (code) => resolve(code === 0));
  });
  signal?.removeEventListener('abort', end);
  return { succeeded, output: lines.join('\n') };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  if (IS_WINDOWS) spawn('taskkill', ['/pid', `${pid}`, '/T', '/F'], { stdio: 'ignore' });
  else process.kill(-pid, 'SIGTERM');
}
