/** Builds a server: its routes, sockets and shared state. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { z } from 'zod';
import { NODE } from '../engine/backends/node.js';
import { EpisodePool } from '../rollouts/episode-pool.js';
import { openReplayBatchOn } from '../rollouts/replay/score-replay.js';
import { packageVersion } from '../shared/version.js';
import { accessCheck } from './access-control.js';
import { createApp } from './http/app.js';
import { json } from './http/json-response.js';
import { openApi, type Route } from './http/openapi.js';
import { openEnvRoutes } from './http/openenv-routes.js';
import { HttpSessions, McpSocket } from './mcp.js';
import { Metrics } from './metrics.js';
import { OpenEnvSession } from './openenv-session.js';
import type { Settings } from './server-options.js';
import { Sockets, type SocketsByPath, upgrade } from './sockets/sockets.js';
import { BatchRunner } from './v1/batch-runner.js';
import { PARSE } from './v1/parse.js';
import { PROMPTS } from './v1/prompts.js';
import { ROLLOUT } from './v1/rollout.js';
import { SCORE } from './v1/score.js';
import { EnvQuota, VecSession } from './vec/vec-session.js';

export interface ServerParts {
  readonly settings: Settings;
  /** An HTTP server that does not listen yet. */
  readonly server: Server;
  readonly sockets: SocketsByPath;
  /** Refuses new batches; /ready then answers "draining". Batches that wait or run continue. */
  drain(): void;
  /** Frees the environments. The sockets must be closed first. */
  free(): void;
}

/**
 * A frame of a vector environment has at most BASE_BYTES plus BYTES_PER_ENV for each environment (an action, a belief of three
 * numbers and a mask, four bytes each). `bodyLimit` may lower this limit. BASE_BYTES is chosen by hand: a header or text has at
 * most 1 MiB, and arrays have some padding.
 */
const BASE_BYTES = 2 ** 21;
const BYTES_PER_ENV = 20;

// The times are chosen by hand: longer ones keep broken connections open longer, shorter limits cut off slow clients.

/** The minimum idle timeout of connections in milliseconds, without the time that a batch request may wait. */
const MIN_IDLE_MS = 60_000;
/** Milliseconds from a request's first byte to the end of its head, and to the end of its body. */
const HEAD_MS = 20_000;
const BODY_MS = 300_000;
/** Milliseconds between two checks of HEAD_MS and BODY_MS. */
const CHECK_MS = 5_000;
/**
 * The number of connections beyond the session capacity: for HTTP requests, and for clients that receive the error
 * CAPACITY_REACHED. Chosen by hand.
 */
const EXTRA_CONNECTIONS = 1024;

/** The metrics of a server of several processes. Uses no types of prom-client, which the declarations must not need. */
export interface MetricsHost {
  /** Called once with the registry of this process. */
  onRegistry(registry: object): void;
  /** Returns the metrics of all processes. */
  metricsText(): Promise<string>;
}

/** Builds a server that does not listen yet. @throws as `createVecEnv`. */
export function buildServer(settings: Settings, host?: MetricsHost): ServerParts {
  const shared = buildShared(settings);
  const { metrics, batchRunner } = shared;
  host?.onRegistry(metrics.registry);
  const onFailure = (error: unknown): void => {
    metrics.failures.inc();
    settings.onFailure(error);
  };
  const sockets = socketsOf({ ...settings, onFailure }, shared);
  const openEnv = openEnvRoutes(settings, shared.mcpSessions);
  const batchRoutes = [
    batchRunner.routeOf(SCORE),
    batchRunner.routeOf(ROLLOUT),
    batchRunner.routeOf(PROMPTS),
    batchRunner.routeOf(PARSE),
  ];
  const routes = withDescription(
    [...openEnv.routes, readyRoute(batchRunner), ...batchRoutes, metricsRoute(metrics, host)],
    settings,
  );
  const rejectionOf = accessCheck(settings);
  const app = createApp({ ...settings, routes, rejectionOf, metrics, onFailure });
  const idleMs = Math.max(settings.idleMs, MIN_IDLE_MS + settings.batchWaitMs);
  const serverOptions = {
    // Trainers pause for minutes between requests, and clients expect a reused connection to stay open.
    keepAliveTimeout: idleMs,
    headersTimeout: HEAD_MS,
    requestTimeout: BODY_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  const { fetch } = app;
  // `overrideGlobalObjects` would replace the global Request and Response of the process.
  const server = createAdaptorServer({ fetch, serverOptions, overrideGlobalObjects: false }) as Server;
  // Ends connections that neither send nor read. WebSockets have a time limit of their own.
  server.setTimeout(idleMs);
  server.maxConnections = settings.capacity + EXTRA_CONNECTIONS;
  server.on('upgrade', (request, stream, head) => upgrade(sockets, rejectionOf, request, stream, head));
  const free = (): void => {
    openEnv.close();
    shared.mcpSessions.end();
    shared.episodePool.close();
    shared.batchRunner.replayBatch.close();
  };
  return { settings, server, sockets, drain: () => batchRunner.drain(), free };
}

/** The state that all connections share. */
interface Shared {
  readonly metrics: Metrics;
  readonly episodePool: EpisodePool;
  /** The sessions of /mcp over HTTP. */
  readonly mcpSessions: HttpSessions;
  readonly batchRunner: BatchRunner;
  readonly envQuota: EnvQuota;
}

function buildShared(settings: Settings): Shared {
  const metrics = new Metrics();
  const onStepped = (stepped: number): void => {
    metrics.steps.inc(stepped);
    metrics.stepBatch.observe(stepped);
  };
  const episodePool = new EpisodePool({ ...settings, onStepped });
  const replayBatch = openReplayBatchOn(NODE, { ...settings, threads: 1 });
  const batchRunner = new BatchRunner({
    ...settings,
    replayBatch,
    onDone: (what, count) => metrics[what].inc(count),
  });
  const envQuota = new EnvQuota(settings.vecEnvs);
  metrics.gauge('sessions', 'Open sessions.', () => episodePool.taken);
  metrics.gauge('session_capacity', 'Maximum number of open sessions.', () => episodePool.capacity);
  metrics.gauge('vec_envs', 'Open vector environments.', () => envQuota.vecEnvs);
  metrics.gauge('vec_slots', 'Environments of all open vector environments.', () => envQuota.environments);
  metrics.gauge('batch_requests', 'Requests of /v1 in progress.', () => batchRunner.working);
  metrics.gauge('batch_waiting', 'Requests of /v1 that wait.', () => batchRunner.waiting);
  const mcpSessions = new HttpSessions(episodePool, settings.idleMs);
  return { metrics, episodePool, mcpSessions, batchRunner, envQuota };
}

function socketsOf(
  settings: Settings,
  { metrics, episodePool, batchRunner, envQuota }: Shared,
): SocketsByPath {
  const sessions = new Sockets(settings, () => new OpenEnvSession(episodePool));
  const tools = new Sockets(settings, () => new McpSocket(episodePool));
  const vecOptions = {
    quota: envQuota,
    engine: batchRunner.engine,
    turn: () => batchRunner.turn(),
    onStepped: (stepped: number) => metrics.vecSteps.inc(stepped),
  };
  const frameLimit = Math.min(settings.bodyLimit, BASE_BYTES + BYTES_PER_ENV * settings.vecEnvs);
  const vecs = new Sockets({ ...settings, frameLimit }, () => new VecSession(vecOptions));
  metrics.gauge('sockets', 'Open WebSockets.', () => sessions.size + tools.size + vecs.size);
  return { '/ws': sessions, '/mcp': tools, '/v1/vec': vecs };
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

const metricsRoute = ({ registry }: Metrics, host?: MetricsHost): Route => ({
  method: 'get',
  path: '/metrics',
  summary: "The server's metrics, in Prometheus's text format.",
  response: 'text/plain',
  handle: async () => {
    const text = await (host === undefined ? registry.metrics() : host.metricsText());
    return new Response(text, { headers: { 'content-type': registry.contentType } });
  },
});

const READY = z.object({ status: z.enum(['ready', 'draining']) });

const readyRoute = (batchRunner: BatchRunner): Route => ({
  method: 'get',
  path: '/ready',
  summary: 'Whether the server accepts requests. Needs no token.',
  response: READY,
  failures: { 503: 'The server is shutting down: {"status": "draining"}' },
  handle: () => (batchRunner.draining ? json({ status: 'draining' }, 503) : json({ status: 'ready' })),
});
