/** The program of a worker process of cluster.ts: a server, whose metrics are those of all workers. */
import { AggregatorRegistry, type Registry } from 'prom-client';
import { BusyError } from './fair-queue.js';
import { type RunningServer, startServer } from './server.js';
import type { ServeOptions } from './server-options.js';

/** A message of a worker to the primary process; one key each. */
export interface ToPrimary {
  /** The worker receives messages. Those before are lost, because node:cluster has a listener of its own. */
  readonly loaded?: true;
  /** The server could not start: the fields of a RhythmError, or of a system error, which also has `syscall`. */
  readonly error?: Pick<NodeJS.ErrnoException, 'message' | 'code' | 'syscall' | 'stack'>;
  /** Asks for the metrics of all workers. The answer has the same id. */
  readonly metricsId?: number;
  /** All requests have ended or were cut off: the number of connections that were cut off. */
  readonly cutOff?: number;
}

/** A message of the primary process to a worker: to start, to stop, or with metrics. */
export interface ToWorker {
  readonly options?: ServeOptions;
  readonly graceMs?: number;
  /** The text is null if a worker did not answer in time. */
  readonly metrics?: { readonly id: number; readonly text: string | null };
}

// After the primary's end there is no channel, and this process ends.
const send = (message: ToPrimary): void => void (process.connected && process.send!(message));

/** The callbacks of requests for metrics, by id. */
const waiting = new Map<number, (text: string | null) => void>();
let nextId = 0;
let server: RunningServer | null = null;

/** Returns the metrics of all workers. @throws BusyError if a worker does not answer in time. */
async function metricsText(): Promise<string> {
  const metricsId = nextId++;
  const text = await new Promise<string | null>((resolve) => {
    waiting.set(metricsId, resolve);
    send({ metricsId });
  });
  waiting.delete(metricsId);
  if (text !== null) return text;
  throw new BusyError('the metrics of all workers', 'no answer of one of them', 'Try again.', 1);
}

/** Answers the primary's requests for the metrics of this process. */
new AggregatorRegistry();
const onRegistry = (registry: object): void => AggregatorRegistry.setRegistries(registry as Registry);

process.on('message', async ({ options, graceMs, metrics }: ToWorker) => {
  if (options !== undefined) {
    try {
      server = await startServer(options, { onRegistry, metricsText });
    } catch (error) {
      const { message, code, syscall, stack } = error as NodeJS.ErrnoException;
      send({ error: { message, code, syscall, stack } });
    }
  } else if (graceMs !== undefined) {
    send({ cutOff: (await server?.close(graceMs)) ?? 0 });
    process.disconnect();
  } else if (metrics !== undefined) waiting.get(metrics.id)?.(metrics.text);
});
// A terminal sends signals to all processes. The primary tells the workers when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
send({ loaded: true });
