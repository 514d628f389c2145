/** What all fakes are: servers of this machine, opened by tests within their process, or by people beside a command. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Fake {
  /** Without a slash at the end; that of a closed one is where nobody listens. */
  readonly url: string;
  /** What a command's environment holds to find it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Harmless when called again. */
  close(): Promise<void>;
}

export class LocalServer {
  readonly #server: Server;
  #url = '';

  constructor(serve: RequestListener) {
    this.#server = createServer(serve);
  }

  /** Known once it listens. */
  get url(): string {
    return this.#url;
  }

  /** @param port any that is free, where it is 0. */
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

/** What to paste into another terminal. @param what the fake is: "A Hub". */
export function printExports(what: string, { environment }: Fake): void {
  for (const [name, value] of Object.entries(environment)) console.log(`export ${name}=${value}`);
  console.log(`# ${what} of this machine, until it is interrupted. Nothing leaves it, and nothing is kept.`);
}
