/** What a server consists of, put together. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Slots } from '../slots/slots.js';
import { packageVersion } from '../version.js';
import { admission } from './admission.js';
import { createApp } from './http/app.js';
import { openApi } from './http/openapi.js';
import { openEnvRoutes } from './http/openenv.js';
import { json, type Route } from './http/routes.js';
import { Metrics } from './metrics.js';
import type { Settings } from './options.js';
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
  /** Does not listen yet. */
  readonly server: Server;
  readonly sockets: SocketsByPath;
  /** Gives back what is held besides sockets. */
  free(): void;
}

/** Of a vector environment's frames: a header or text, and an action, a belief and a mask of four bytes a number. */
const MOST_HEADERS = 2 ** 21;
const BYTES_A_SLOT = 20;

/** Of connections: a batch may wait for others as long. */
const LEAST_IDLE_MS = 60_000;
/** Beside those of sessions: for requests, and for clients that are told that there are no more sessions. */
const MORE_CONNECTIONS = 1024;

/** @throws as `createVecEnv`. */
export function assemble(settings: Settings): Parts {
  const engine = engineOf(settings);
  const { metrics, batches } = engine;
  const onFailure = (error: unknown): void => {
    metrics.failures.inc();
    settings.onFailure(error);
  };
  const sockets = socketsOf({ ...settings, onFailure }, engine);
  const openEnv = openEnvRoutes(settings);
  const batched = [scoreRoute(batches), rolloutRoute(batches), promptsRoute(batches)];
  const routes = described([...openEnv.routes, ...batched, metricsRoute(metrics)], settings);
  const admit = admission(settings.token);
  const app = createApp({ ...settings, routes, admit, metrics, onFailure });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  // One who neither sends nor reads would hold an answer for ever; sockets have their own clock.
  server.setTimeout(Math.max(settings.idleMs, LEAST_IDLE_MS));
  server.maxConnections = settings.capacity + MORE_CONNECTIONS;
  server.on('upgrade', (request, stream, head) => upgrade(sockets, admit, request, stream, head));
  const free = (): void => {
    openEnv.close();
    engine.slots.close();
  };
  return { settings, server, sockets, free };
}

/** What computes, and what counts it. */
interface Engine {
  readonly metrics: Metrics;
  readonly slots: Slots;
  readonly batches: Batches;
  readonly pool: VecPool;
}

function engineOf(settings: Settings): Engine {
  const metrics = new Metrics();
  const onStepped = (stepped: number): void => {
    metrics.steps.inc(stepped);
    metrics.stepBatch.observe(stepped);
  };
  const slots = new Slots({ ...settings, onStepped });
  const batches = new Batches({ ...settings, onDone: (what, count) => metrics[what].inc(count) });
  const pool = new VecPool(settings.vecSlots);
  metrics.gauge('sessions', 'Sessions that hold a slot.', () => slots.taken);
  metrics.gauge('session_capacity', 'Sessions that there may be.', () => slots.capacity);
  metrics.gauge('vec_envs', 'Open vector environments.', () => pool.envs);
  metrics.gauge('vec_slots', 'Slots of open vector environments.', () => pool.slots);
  metrics.gauge('batch_requests', 'Requests of /v1 in progress.', () => batches.working);
  return { metrics, slots, batches, pool };
}

function socketsOf(settings: Settings, { metrics, slots, batches, pool }: Engine): SocketsByPath {
  const sessions = new Sockets(settings, () => new Session(slots));
  const vecOptions = {
    ...{ pool, engine: batches.engine, turn: () => batches.turn() },
    onStepped: (stepped: number) => metrics.vecSteps.inc(stepped),
  };
  const frameLimit = Math.min(settings.bodyLimit, MOST_HEADERS + BYTES_A_SLOT * settings.vecSlots);
  const vecs = new Sockets({ ...settings, frameLimit }, () => new VecSession(vecOptions));
  metrics.gauge('sockets', 'Open WebSockets.', () => sessions.size + vecs.size);
  return { '/ws': sessions, '/v1/vec': vecs };
}

/** All routes, and the one that describes them. */
function described(routes: readonly Route[], { token }: Settings): readonly Route[] {
  const self: Route = {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
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
  summary: "What the server counts, in Prometheus's text format.",
  response: 'text/plain',
  handle: async () =>
    new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
});
