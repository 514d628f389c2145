/** A worker process of a cluster: a server with the quotas and metrics of the whole cluster. */
import type { Duplex } from 'node:stream';
import type { MetricObject } from 'prom-client';
import type { Grant, Quota } from '../quota.js';
import { type RunningServer, startServer } from '../server.js';
import type { OwnMetrics, ServerHost } from '../server-host.js';
import { DEFAULTS, type ServeOptions } from '../server-options.js';
import { Pending, type QuotaName, type SentError, type ToPrimary, type ToWorker } from './messages.js';

const send = (message: ToPrimary, handle?: unknown): void => {
  // After the primary's end there is no channel, and this process ends.
  if (process.connected) process.send!(message, handle as never);
};

/** Requests for parts of a quota. */
const grants = new Pending<Grant>();
/** Requests for the text of the server's metrics. */
const texts = new Pending<string>();

/** A quota that the primary keeps. */
const sharedQuota = (quota: QuotaName, capacity: number): Quota => ({
  capacity,
  take: (count) => grants.ask((id) => send({ type: 'take', id, quota, count })),
  giveBack: (count) => send({ type: 'give back', quota, count }),
});

let nextSocketId = 0;
/** The metrics of this process. */
let metrics: OwnMetrics | null = null;

const hostOf = ({ capacity = DEFAULTS.capacity, vecEnvs = DEFAULTS.vecEnvs }: ServeOptions): ServerHost => ({
  sessions: sharedQuota('sessions', capacity),
  envs: sharedQuota('envs', vecEnvs),
  metricsText: () => texts.ask((id) => send({ type: 'get metrics', id })),
  onMetrics: (own) => {
    metrics = own;
  },
  onSocket: (connection) => shareHandle(connection),
});

/** Sends the connection's handle to the primary, which sends the client a close frame if this process ends first. */
function shareHandle(connection: Duplex): void {
  const id = nextSocketId++;
  const { _handle } = connection as unknown as { _handle: unknown };
  send({ type: 'socket opened', id }, _handle);
  connection.once('close', () => send({ type: 'socket closed', id }));
}

let server: RunningServer | null = null;

const ON_MESSAGE: {
  readonly [Type in ToWorker['type']]: (message: Extract<ToWorker, { type: Type }>) => Promise<void> | void;
} = {
  start: async ({ options }) => {
    server = await startServer(options, hostOf(options));
    send({ type: 'ready' });
  },
  granted: ({ id, grant }) => grants.answer(id, grant),
  metrics: ({ id, text }) => texts.answer(id, text),
  'get own metrics': async ({ id }) => {
    send({ type: 'own metrics', id, metrics: ((await metrics?.objects()) ?? []) as MetricObject[] });
  },
  stop: async ({ graceMs }) => {
    send({ type: 'stopped', cutOff: (await server?.close(graceMs)) ?? 0 });
    process.disconnect();
  },
};

function toSent(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack, code, syscall } = error as NodeJS.ErrnoException;
  return { message, stack, code, syscall };
}

process.on('message', (message: ToWorker) => {
  const handle = ON_MESSAGE[message.type] as ((message: ToWorker) => Promise<void> | void) | undefined;
  Promise.resolve(handle?.(message)).catch((error: unknown) => {
    send({ type: 'failed', error: toSent(error) });
  });
});
// A terminal sends signals to all processes. The primary tells the workers when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
send({ type: 'loaded' });
