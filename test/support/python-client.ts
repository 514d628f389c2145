/** Calls python/rhythm_vec in a Python process, and starts faulty servers for it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import * as python from './python.js';

/** A call of the Python client or of its clock, made by test/peers/client/calls.py. */
export type Call =
  | { readonly score: Readonly<Record<string, unknown>>; readonly here?: boolean }
  /** A call of score whose lists become objects with `tolist`, and whose text "NaN" becomes the number NaN. */
  | { readonly arrays: Readonly<Record<string, unknown>> }
  | { readonly prompts: Readonly<Record<string, unknown>> }
  | { readonly parse: readonly unknown[]; readonly thought?: string }
  /** Advances the clock of the client by some seconds. */
  | { readonly advance: number }
  /** Makes each call in its own thread, and returns the results. */
  | { readonly parallel: readonly Call[] }
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

export interface CallResults {
  readonly results: readonly (Result & Readonly<Record<string, unknown>>)[];
  /** Seconds that the client would have waited before each retry. */
  readonly waits: readonly number[];
  readonly warnings: readonly string[];
  /**
   * Names of the reward functions after pickling, for each grader: the default, v1, v2, v3, a custom one with
   * belief_skill, and a custom one without it.
   */
  readonly pickled: readonly (readonly string[])[];
}

/** Options of Client and of its Backoff. */
export interface ClientOptions {
  readonly url: string | readonly string[];
  readonly token?: string;
  readonly timeout_s?: number;
  readonly body_limit?: number;
  readonly row_limit?: number;
  readonly backoff?: object;
}

const SCRIPT = 'client/calls.py';

/** Returns the reason why Python cannot run here, or null. @throws Error instead if `RHYTHM_REQUIRE` names python. */
export const whyAbsent = (): string | null => python.whyAbsent('urllib3', '2 or later', SCRIPT, NO_CALLS);
/** Returns the reason why Python cannot compute scores in its process, or null. @throws Error as `whyAbsent`. */
export const whyNoEngine = (): string | null =>
  python.whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, {
    ...NO_CALLS,
    calls: [{ score: { seeds: [1], action_histories: [[]], actions: [0] }, here: true }],
  });
const NO_CALLS = { client: { url: 'http://127.0.0.1:9' }, calls: [] };

/** Makes calls with one client, one after the other. */
export const callClient = (client: ClientOptions, ...calls: Call[]): Promise<CallResults> =>
  python.askPythonAsync(SCRIPT, { client, calls });

/** Answers one request. With null, or a promise of 'forward', the real server answers the request instead. */
export type Behaviour =
  | ((request: IncomingMessage, response: ServerResponse) => unknown | Promise<'forward'>)
  | null;

/** Returns a behaviour that answers with a status, headers and text. */
export const answering =
  (status: number, headers: Record<string, string> = {}, body = '{"detail": "details"}'): Behaviour =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

/** Starts a server with one behaviour for each of its first requests. It counts requests, and forwards later ones to `real`. */
export async function faultyServer(
  real: { readonly url: string },
  ...behaviours: Behaviour[]
): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const behaviour = behaviours[requests++] ?? null;
    if (behaviour !== null && (await behaviour(request, response)) !== 'forward') return;
    const { method, headers, url } = request;
    const forwarded = await fetch(real.url + url, {
      method,
      body,
      headers: { 'content-type': headers['content-type'] ?? '' },
    });
    response.writeHead(forwarded.status).end(Buffer.from(await forwarded.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}
