/** The server: one batch of sessions, HTTP and WebSockets in front of it. */
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createAdaptorServer } from '@hono/node-server';
import { packageVersion } from '../evaluate/provenance.js';
import { type Admit, admission } from './admission.js';
import { createApp } from './http/app.js';
import { openApi } from './http/openapi.js';
import { openEnvRoutes } from './http/openenv.js';
import { json, type Route } from './http/routes.js';
import { Metrics } from './metrics.js';
import { type ServeOptions, type Settings, toServeSettings } from './options.js';
import { Session } from './sessions/session.js';
import { Slots } from './sessions/slots.js';
import { Sockets } from './sockets/sockets.js';
import { Batches } from './v1/batches.js';
import { promptsRoute } from './v1/prompts.js';
import { rolloutRoute } from './v1/rollout.js';
import { scoreRoute } from './v1/score.js';
import { VecPool } from './vec/pool.js';
import { VecSession } from './vec/vec-session.js';

/** A server that listens. */
export interface RunningServer {
  /** Where: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more requests, finishes those that came, and closes. Calling it again waits for the same.
   * @param graceMs after which what is not finished is cut off. Default 1,500.
   */
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 1500;

/**
 * Listens. @throws InputError for an option, BackendError as `createVecEnv`; the system's error if the address cannot be
 * listened on. Nothing is left open then.
 */
export async function openServer(options: ServeOptions = {}): Promise<RunningServer> {
  const parts = open(toServeSettings(options));
  try {
    await listen(parts.server, parts.settings);
  } catch (error) {
    parts.free();
    throw error;
  }
  const { port } = parts.server.address() as AddressInfo;
  const { host } = parts.settings;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`,
    port,
    close: (graceMs = GRACE_MS) => {
      closing ??= shutDown(parts, graceMs);
      return closing;
    },
  };
}

interface Parts {
  readonly settings: Settings;
  readonly server: Server;
  readonly sockets: Readonly<Record<string, Sockets>>;
  /** Gives back what is held besides sockets. */
  free(): void;
}

function open(settings: Settings): Parts {
  const slots = new Slots({ ...settings, onStepped: (stepped) => count(stepped) });
  const sessions = new Sockets(settings, () => new Session(slots));
  const metrics: Metrics = new Metrics({
    sessions: () => slots.taken,
    capacity: () => slots.capacity,
    sockets: () => sessions.size + vecs.size,
    vecEnvs: () => pool.envs,
    vecSlots: () => pool.slots,
    batchRequests: () => batches.working,
  });
  const batches = new Batches({ ...settings, onDone: (what, count) => metrics[what].inc(count) });
  const pool = new VecPool(settings.vecSlots);
  const vecOptions = {
    ...{ pool, engine: batches.engine, turn: () => batches.turn() },
    onStepped: (stepped: number) => metrics.vecSteps.inc(stepped),
  };
  const vecs = new Sockets({ ...settings, frameLimit: settings.bodyLimit }, () => new VecSession(vecOptions));
  const count = (stepped: number): void => {
    metrics.steps.inc(stepped);
    metrics.stepBatch.observe(stepped);
  };
  const openEnv = openEnvRoutes(settings);
  const admit = admission(settings.token);
  const routes = described(
    [...openEnv.routes, ...batchRoutes(batches), metricsRoute(metrics)],
    settings.token !== undefined,
  );
  const app = createApp({ ...settings, routes, admit, metrics });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  const sockets = { '/ws': sessions, '/v1/vec': vecs };
  server.on('upgrade', (request, stream, head) => upgrade(sockets, admit, request, stream, head));
  const free = () => {
    openEnv.close();
    slots.close();
  };
  return { settings, server, sockets, free };
}

function described(routes: readonly Route[], bearer: boolean): readonly Route[] {
  const self: Route = {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    response: 'application/json',
    handle: () => json(description),
  };
  const all = [...routes, self];
  const description = openApi(all, packageVersion(), bearer);
  return all;
}

const batchRoutes = (batches: Batches): readonly Route[] => [
  scoreRoute(batches),
  rolloutRoute(batches),
  promptsRoute(batches),
];

const metricsRoute = (metrics: Metrics): Route => ({
  method: 'get',
  path: '/metrics',
  summary: "What the server counts, in Prometheus's text format.",
  response: 'text/plain',
  handle: async () =>
    new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
});

function upgrade(
  sockets: Parts['sockets'],
  admit: Admit,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): void {
  // A client that is gone before it is answered.
  stream.on('error', () => stream.destroy());
  const [path] = (request.url ?? '/').split('?');
  const refused = Object.hasOwn(sockets, path) ? admit(request.headers) : NOWHERE;
  if (refused === null) sockets[path].upgrade(request, stream, head);
  else turnAway(stream, refused.status, refused.detail);
}

const NOWHERE = { status: 404, detail: 'Not Found' };

function turnAway(stream: Duplex, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  const length = `content-length: ${Buffer.byteLength(body)}`;
  stream.end(`${head}\r\ncontent-type: application/json\r\n${length}\r\nconnection: close\r\n\r\n${body}`);
}

function listen(server: Server, { host, port }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function shutDown({ server, sockets, free }: Parts, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await Promise.all(Object.values(sockets).map((each) => each.close(graceMs)));
  await closed;
  clearTimeout(cut);
  free();
}
