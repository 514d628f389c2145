/** Runs the compiled `rhythm-vec serve` in a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export class ServerChild implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts a server on a free port. @param args options of the command. @throws Error if it exits before it listens. */
  static async start(args: readonly string[] = [], main = MAIN): Promise<ServerChild> {
    const child = spawn(process.execPath, [main, 'serve', '--port', '0', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`Expected the server to listen, but it exited with ${code}. See its standard error.`);
    });
    const [line] = (await Promise.race([once(child.stdout!, 'data'), ended])) as [Buffer];
    // A later exit of the server is no error.
    ended.catch(() => {});
    const [url] = /http:\S+/.exec(line.toString())!;
    return new ServerChild(child, url);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
