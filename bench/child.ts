/** Child processes: for measurements that need a fresh process, and for programs that answer line by line. */
import { type ChildProcessByStdio, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The interpreter of Python programs: `RHYTHM_PYTHON`, else `python3`. */
export const PYTHON = process.env.RHYTHM_PYTHON ?? 'python3';

/** Runs Node with these arguments in the package's folder. Returns its standard output. Rejects if it fails. */
export async function runNode(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return stdout;
}

/** Runs measured-process.js, and returns its figures. */
export const runChild = async <Figures>(work: string, ...numbers: readonly number[]): Promise<Figures> =>
  JSON.parse(await runNode(['bench/measured-process.js', work, ...numbers.map(String)])) as Figures;

/** Starts a server in a process of its own. */
export async function startServer() {
  const child = fork(`${ROOT}bench/measured-process.js`, ['server'], { execArgv: [] });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    /** Returns the processor time that the process has used, in milliseconds. */
    async cpuMs(): Promise<number> {
      child.send('cpu');
      return (await once(child, 'message'))[0];
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
export type ServerChild = Awaited<ReturnType<typeof startServer>>;

/** The error if a program cannot start or has ended. Its message is the reason. */
export class Missing extends Error {}

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

  /**
   * Returns the answer to a line.
   * @throws Missing with the last line that the program wrote to the standard error, if it cannot start or has ended.
   */
  async ask(line: string): Promise<string> {
    this.#process.stdin.write(`${line}\n`);
    const { done, value } = await this.#answers.next();
    if (!done) return value;
    throw new Missing(this.#errors.trim().split('\n').pop() || `${this.#command} cannot be started`);
  }

  /** Ends the program's input, and waits for the program to end. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.pid === undefined) return;
    this.#process.stdin.end();
    await once(this.#process, 'close');
  }
}
