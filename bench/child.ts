/** Child processes: for measurements that need a fresh process, and for programs that answer line by line. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { now } from './clock.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const execute = promisify(execFile);

/** The interpreter of Python programs: `RHYTHM_PYTHON`, else `python3`. */
export const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';

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

/** A program that answers each line of its standard input with a line. */
export class LineProcess {
  readonly #command: string;
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #answers: AsyncIterator<string>;
  #errors = '';

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#command = command;
    this.#process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    this.#process.on('error', () => {});
    this.#process.stdin.on('error', () => {});
    this.#answers = createInterface(this.#process.stdout)[Symbol.asyncIterator]();
  }

  /** Returns the answer to a line; null if the program cannot start or has ended. */
  async ask(line: string): Promise<string | null> {
    this.#process.stdin.write(`${line}\n`);
    const { done, value } = await this.#answers.next();
    return done ? null : (value as string);
  }

  /** The last line that the program wrote to the standard error; "COMMAND cannot be started" if there is none. */
  get error(): string {
    return this.#errors.trim().split('\n').pop() || `${this.#command} cannot be started`;
  }

  /** Ends the program's input, and waits for the program to end. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.pid === undefined) return;
    this.#process.stdin.end();
    await once(this.#process, 'close');
  }
}
