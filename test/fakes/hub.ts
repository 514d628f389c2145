/**
 * A fake Hugging Face Hub: the part of its HTTP API that uploads use, in memory.
 *
 *     npx tsx test/fakes/hub.ts --port 8788
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HubApi, type HubSettings, type Reply } from './hub-api.js';
import { Faults } from './hub-faults.js';
import type { FakeRepo } from './hub-store.js';
import { type Fake, LocalServer, printExports } from './local-server.js';

export interface FakeHubOptions extends Partial<HubSettings> {
  readonly port?: number;
  readonly token?: string;
}

/** A received request. */
export interface HubRequest {
  /** `METHOD /path?query`. */
  readonly what: string;
  /** The size of the body in bytes; -1 if a fault kept the Hub from handling the request. */
  readonly bytes: number;
  readonly authorization: string | null;
}

export class FakeHub implements Fake {
  readonly faults = new Faults();
  /** The received requests, in the order in which they were read. */
  readonly requests: HubRequest[] = [];
  readonly #api: HubApi;
  readonly #token: string;
  readonly #server: LocalServer;

  private constructor({ token = 'hf_aFakeTokenOfNobody', ...settings }: FakeHubOptions) {
    const { large = 10_000_000, part = 5_000_000, namespaces } = settings;
    this.#token = token;
    this.#api = new HubApi({ large, part, namespaces }, () => this.url);
    this.#server = new LocalServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
  }

  static async open(options: FakeHubOptions = {}): Promise<FakeHub> {
    const hub = new FakeHub(options);
    await hub.#server.listen(options.port);
    return hub;
  }

  get url(): string {
    return this.#server.url;
  }

  get environment(): { HF_ENDPOINT: string; HF_TOKEN: string } {
    return { HF_ENDPOINT: this.url, HF_TOKEN: this.#token };
  }

  get repos(): Map<string, FakeRepo> {
    return this.#api.repos;
  }

  repo(type: string, name: string): FakeRepo | undefined {
    return this.#api.repo(type, name);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const what = `${method} ${url}`;
    const action = this.faults.next(what);
    const authorization = headers.authorization ?? null;
    if (await this.faults.apply(action, request, response)) {
      this.requests.push({ what, bytes: -1, authorization });
      return;
    }
    const body = Buffer.concat(await request.toArray());
    this.requests.push({ what, bytes: body.length, authorization });
    const { pathname, searchParams } = new URL(url, this.url);
    const hasValidToken = authorization === `Bearer ${this.#token}`;
    const hasInvalidToken = authorization !== null && !hasValidToken;
    const reply = this.#api.answer({
      method,
      path: pathname,
      query: searchParams,
      body,
      hasValidToken,
      hasInvalidToken,
    });
    // Of the faults, only `loseAnswer` gets here.
    if (action !== null) request.socket.destroy();
    else write(response, reply);
  }
}

function write(response: ServerResponse, { status, json, content, headers = {} }: Reply): void {
  const body = content ?? (json === undefined ? '' : JSON.stringify(json));
  const type = json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers, 'x-request-id': 'fake' }).end(body);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string' } } });
  printExports('A Hub', await FakeHub.open({ port: Number(values.port ?? 0) }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
