/** python/rhythm_vec.py, called in a Python process, and servers for it that misbehave. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import * as python from './python.js';

export type Call =
  | { readonly score: Readonly<Record<string, unknown>> }
  /** Columns only: each is passed as an array, and the text NaN as a number. */
  | { readonly arrays: Readonly<Record<string, unknown>> }
  | {
      readonly rewards: {
        /** Options of the reward stack. */
        readonly of?: object;
        readonly names: readonly string[];
        readonly columns: Readonly<Record<string, unknown>>;
      };
    };

export interface Result {
  readonly error?: string;
  readonly message?: string;
  readonly rows?: number;
  readonly digest?: string;
  readonly scores?: Readonly<Record<string, readonly (number | string | null)[]>>;
  readonly faults?: readonly { readonly index: number; readonly code: string; readonly message: string }[];
}

export interface Called {
  readonly results: readonly (Result & Readonly<Record<string, unknown>>)[];
  /** Seconds that the client would have waited before it tried again. */
  readonly waits: readonly number[];
  readonly warnings: readonly string[];
  /** Names of the reward functions that were pickled and came back. */
  readonly pickled: readonly string[];
}

/** Of Client, and of its Backoff. */
export interface ClientOptions {
  readonly url: string;
  readonly token?: string;
  readonly timeout_s?: number;
  readonly body_limit?: number;
  readonly row_limit?: number;
  readonly backoff?: object;
}

const SCRIPT = 'client/calls.py';

/** Why Python cannot be asked here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null => python.whyAbsent('python', '3.9 or later', SCRIPT, NO_CALLS);
const NO_CALLS = { client: { url: 'http://127.0.0.1:9' }, calls: [] };

/** Calls, one after the other, of one client. */
export const called = (client: ClientOptions, ...calls: Call[]): Promise<Called> =>
  python.talkPython(SCRIPT, { client, calls });

/** How a server behaves to one request: null is as the one behind it does. */
export type Behaviour = ((request: IncomingMessage, response: ServerResponse) => void) | null;

/** Answers a status, with headers and text. */
export const answering =
  (status: number, headers: Record<string, string> = {}, body = '{"detail": "told so"}'): Behaviour =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

/** A server that behaves so to one request after the other, and then passes all on. `asked` counts them. */
export async function moodyServer(
  behind: { readonly url: string },
  ...moods: Behaviour[]
): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const mood = moods[asked++] ?? null;
    if (mood !== null) return mood(request, response);
    const { method, headers, url } = request;
    const passed = await fetch(behind.url + url, {
      ...{ method, body },
      headers: { 'content-type': headers['content-type'] ?? '' },
    });
    response.writeHead(passed.status).end(Buffer.from(await passed.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}
