/** Builds the parts of a server. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { EpisodePool } from '../rollouts/episode-pool.js';
import { packageVersion } from '../shared/version.js';
import { admission } from './admission.js';
import { createApp } from './http/app.js';
import { openApi } from './http/openapi.js';
import { openEnvRoutes } from './http/openenv.js';
import { json, type Route } from './http/route.js';
import { Metrics } from './metrics.js';
import type { Settings } from './server-options.js';
import { Session } from './session.js';
import { Sockets } from './sockets/sockets.js';
import { type SocketsByPath, upgrade } from './upgrade.js';
import { Batches } from './v1/batches.js';
import { promptsRoute } from './v1/prompts.js';
import { rolloutRoute } from './v1/rollout.js';
import { scoreRoute } from './v1/score.js';
import { VecPool } from './vec/pool.js';
import { VecSession } from './vec/vec-session.js';

export interface Parts {
  readonly settings: Settings;
  /** Not yet listening. */
  readonly server: Server;
  readonly sockets: SocketsByPath;
  /** Frees everything but sockets. */
  free(): void;
}

/**
 * The maximum size of a frame of a vector environment: that of a header or text, plus 20 bytes per environment for an
 * action, a belief of three numbers and a mask, four bytes each.
 */
const MAX_HEADER_BYTES = 2 ** 21;
const BYTES_PER_ENV = 20;

/** The minimum idle time of connections in milliseconds: batch requests may wait this long for others. */
const MIN_IDLE_MS = 60_000;
/** Milliseconds from a request's first byte to the end of its head, and to the end of its body. */
const HEAD_MS = 20_000;
const BODY_MS = 300_000;
/** Milliseconds between two checks for requests beyond these limits. */
const CHECK_MS = 5_000;
/** Connections in addition to those of sessions: for requests, and for clients that are refused at full capacity. */
const EXTRA_CONNECTIONS = 1024;

/** Builds a server that does not listen yet. @throws as `createVecEnv`. */
export function assemble(settings: Settings): Parts {
  const engine = engineOf(settings);
  const { metrics, batches } = engine;
  const onFailure = (error: unknown): void => {
    metrics.failures.inc();
    settings.onFailure(error);
  };
  const sockets = socketsOf({ ...settings, onFailure }, engine);
  const openEnv = openEnvRoutes(settings);
  const batchRoutes = [scoreRoute(batches), rolloutRoute(batches), promptsRoute(batches)];
  const routes = withDescription([...openEnv.routes, ...batchRoutes, metricsRoute(metrics)], settings);
  const admit = admission(settings);
  const app = createApp({ ...settings, routes, admit, metrics, onFailure });
  const idleMs = Math.max(settings.idleMs, MIN_IDLE_MS);
  const serverOptions = {
    // Trainers pause for minutes between requests, and clients expect a reused connection to stay open.
    keepAliveTimeout: idleMs,
    headersTimeout: HEAD_MS,
    requestTimeout: BODY_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  const { fetch } = app;
  const server = createAdaptorServer({ fetch, serverOptions, overrideGlobalObjects: false }) as Server;
  // Ends connections that neither send nor read. WebSockets have a time limit of their own.
  server.setTimeout(idleMs);
  server.maxConnections = settings.capacity + EXTRA_CONNECTIONS;
  server.on('upgrade', (request, stream, head) => upgrade(sockets, admit, request, stream, head));
  const free = (): void => {
    openEnv.close();
    engine.episodePool.close();
  };
  return { settings, server, sockets, free };
}

/** The parts that compute, and their metrics. */
interface Engine {
  readonly metrics: Metrics;
  readonly episodePool: EpisodePool;
  readonly batches: Batches;
  readonly vecPool: VecPool;
}

function engineOf(settings: Settings): Engine {
  const metrics = new Metrics();
  const onStepped = (stepped: number): void => {
    metrics.steps.inc(stepped);
    metrics.stepBatch.observe(stepped);
  };
  const episodePool = new EpisodePool({ ...settings, onStepped });
  const batches = new Batches({ ...settings, onDone: (what, count) => metrics[what].inc(count) });
  const vecPool = new VecPool(settings.vecEnvs);
  metrics.gauge('sessions', 'Open sessions.', () => episodePool.taken);
  metrics.gauge('session_capacity', 'Maximum number of open sessions.', () => episodePool.capacity);
  metrics.gauge('vec_envs', 'Open vector environments.', () => vecPool.envs);
  metrics.gauge('vec_slots', 'Environments of all open vector environments.', () => vecPool.total);
  metrics.gauge('batch_requests', 'Requests of /v1 in progress.', () => batches.working);
  return { metrics, episodePool, batches, vecPool };
}

function socketsOf(settings: Settings, { metrics, episodePool, batches, vecPool }: Engine): SocketsByPath {
  const sessions = new Sockets(settings, () => new Session(episodePool));
  const vecOptions = {
    ...{ pool: vecPool, engine: batches.engine, turn: () => batches.turn() },
    onStepped: (stepped: number) => metrics.vecSteps.inc(stepped),
  };
  const frameLimit = Math.min(settings.bodyLimit, MAX_HEADER_BYTES + BYTES_PER_ENV * settings.vecEnvs);
  const vecs = new Sockets({ ...settings, frameLimit }, () => new VecSession(vecOptions));
  metrics.gauge('sockets', 'Open WebSockets.', () => sessions.size + vecs.size);
  return { '/ws': sessions, '/v1/vec': vecs };
}

/** Adds the route that describes all routes. */
function withDescription(routes: readonly Route[], { token }: Settings): readonly Route[] {
  const self: Route = {
    method: 'get',
    path: '/openapi.json',
    summary: 'The OpenAPI description of this server.',
    response: 'application/json',
    handle: () => json(description),
  };
  const all = [...routes, self];
  const description = openApi(all, packageVersion(), token !== undefined);
  return all;
}

const metricsRoute = (metrics: Metrics): Route => ({
  method: 'get',
  path: '/metrics',
  summary: "The server's metrics, in Prometheus's text format.",
  response: 'text/plain',
  handle: async () =>
    new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
});
