/** Local HTTP servers: the base of all fakes. Tests open them in the process of the test; users start them as programs. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Fake {
  /** The address, without a slash at the end. After `close`, connections to it are refused. */
  readonly url: string;
  /** The environment variables with which a command uses this fake. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the server. A second call does nothing. */
  close(): Promise<void>;
}

export class LocalServer {
  readonly #server: Server;
  #url = '';

  constructor(serve: RequestListener) {
    this.#server = createServer(serve);
  }

  /** The address; '' before `listen`. */
  get url(): string {
    return this.#url;
  }

  /** Starts the server. @param port 0 chooses a free port. */
  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Prints the commands that set the environment variables, to paste into another terminal. @param what such as "A Hub". */
export function printExports(what: string, { environment }: Fake): void {
  for (const [name, value] of Object.entries(environment)) console.log(`export ${name}=${value}`);
  console.log(
    `# ${what} runs on this machine until it is interrupted. It sends nothing to other machines and writes no file.`,
  );
}
