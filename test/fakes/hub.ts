/**
 * A Hugging Face Hub of this machine: what uploads need of it, over HTTP, kept in memory. Tests start it within their
 * process; `npx tsx test/fakes/hub.ts` runs it and prints what to export.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { HubApi, type Reply, type Setting } from './hub-api.js';
import { Faults } from './hub-faults.js';
import type { FakeRepo } from './hub-store.js';

export interface FakeHubOptions extends Partial<Setting> {
  readonly port?: number;
  readonly token?: string;
}

/** A request that was answered, or misbehaved to. */
export interface Seen {
  /** `METHOD /path?query`. */
  readonly what: string;
  readonly bytes: number;
  readonly authorization: string | null;
}

export interface FakeHub {
  readonly url: string;
  /** What clients read of their environment. */
  readonly env: { readonly HF_ENDPOINT: string; readonly HF_TOKEN: string };
  readonly faults: Faults;
  /** In the order in which they were answered. */
  readonly seen: Seen[];
  readonly repos: Map<string, FakeRepo>;
  repo(type: string, name: string): FakeRepo | undefined;
  close(): Promise<void>;
}

export async function openFakeHub(options: FakeHubOptions = {}): Promise<FakeHub> {
  const {
    port = 0,
    token = 'hf_aFakeTokenOfNobody',
    large = 10_000_000,
    part = 5_000_000,
    namespaces,
  } = options;
  const faults = new Faults();
  const seen: Seen[] = [];
  let url = '';
  const api = new HubApi({ large, part, namespaces }, () => url);
  const server = createServer((request, response) => {
    serve(request, response, { api, faults, seen, token }).catch(() => request.socket.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url, faults, seen, repos: api.repos },
    env: { HF_ENDPOINT: url, HF_TOKEN: token },
    repo: (type, name) => api.repo(type, name),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Serving {
  readonly api: HubApi;
  readonly faults: Faults;
  readonly seen: Seen[];
  readonly token: string;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { api, faults, seen, token }: Serving,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  const what = `${method} ${url}`;
  const misdeed = faults.find(what);
  const authorization = headers.authorization ?? null;
  if (await faults.commit(misdeed, request, response)) {
    seen.push({ what, bytes: -1, authorization });
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  seen.push({ what, bytes: body.length, authorization });
  const { pathname, searchParams } = new URL(url, 'http://hub');
  const known = authorization === `Bearer ${token}`;
  const wrong = authorization !== null && !known;
  const reply = api.answer({ method, path: pathname, query: searchParams, body, known, wrong });
  if (misdeed !== null) request.socket.destroy();
  else write(response, reply);
}

function write(response: ServerResponse, { status, json, content, headers = {} }: Reply): void {
  const body = content ?? (json === undefined ? '' : JSON.stringify(json));
  const type = json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers, 'x-request-id': 'fake' }).end(body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const hub = await openFakeHub({ port: Number(process.argv[2] ?? 0) });
  for (const [name, value] of Object.entries(hub.env)) console.log(`export ${name}=${value}`);
  console.log('# A Hub of this machine, until it is interrupted. Nothing leaves it, and nothing is kept.');
}
