/**
 * A server of several worker processes. The primary process accepts the connections and hands them to the workers in turn; a
 * worker keeps its connections. The primary keeps the quotas of the whole server, adds up the metrics, and replaces workers
 * that end.
 */
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mayHaveThreads } from '../../engine/backends/choose-backend.js';
import { BackendError, InputError } from '../../shared/errors.js';
import { checkInteger } from '../../shared/values.js';
import { sumOfMetrics } from '../metrics.js';
import { LocalQuota } from '../quota.js';
import { type RunningServer, urlOf } from '../server.js';
import { type ServeOptions, type Settings, toServeSettings } from '../server-options.js';
import type { SentError, ToWorker } from './messages.js';
import { type ClusterMessage, type Quotas, TrackedWorker } from './tracked-worker.js';
import { WorkerMetrics } from './worker-metrics.js';

/** The program of a worker, beside this file in dist and beside its bundle in lib. */
const PROGRAM = './serve-worker.js';
const WORKER = fileURLToPath(new URL(PROGRAM, import.meta.url));
/** Chosen by hand. The number of processor cores is a further limit. */
const MAX_WORKERS = 256;

// The times are chosen by hand: longer ones delay replacements, metrics and the end; shorter ones give busy workers less time.

/** Milliseconds before an ended worker is replaced. The delay doubles each time, up to MAX_DELAY_MS. */
const [FIRST_DELAY_MS, MAX_DELAY_MS] = [100, 10_000];
/** Milliseconds that a worker must have run so that the delay is FIRST_DELAY_MS again. */
const STABLE_MS = 10_000;
/** Milliseconds that a worker has to send its metrics. If it takes longer, its last metrics count. */
const METRICS_MS = 5000;
/** The default of `graceMs` in `close`, and the milliseconds after `graceMs` until workers that still run are killed. */
const END_MS = 2000;

/**
 * Starts a server of several workers.
 * @param workers 1 to 256, at most the number of processor cores.
 * @throws as `startServer`, and InputError for an invalid number of workers.
 */
export async function startCluster(options: ServeOptions, workers: number): Promise<RunningServer> {
  checkInteger('workers', workers, 1, MAX_WORKERS);
  const cores = availableParallelism();
  if (workers > cores) {
    throw new InputError(
      'out_of_range',
      `Expected at most ${cores} workers, one for each processor core, got ${workers}. More do not help: pass --workers ${cores}.`,
    );
  }
  const settings = toServeSettings(options);
  const port = settings.port === 0 ? await freePort(settings) : settings.port;
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: WORKER, args: [], serialization: 'advanced' });
  const running = new Cluster({ ...settings, port }, workers);
  try {
    await running.start();
  } catch (error) {
    await running.stop(0);
    throw error;
  }
  let closing: Promise<number> | undefined;
  return {
    url: urlOf(settings.host, port),
    port,
    close: (graceMs = END_MS) => {
      closing ??= running.stop(graceMs);
      return closing;
    },
  };
}

/** Returns a free port, which all workers use, replacements included. */
function freePort({ host }: Settings): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    // Node expects an IPv6 address without brackets.
    server.listen(0, host.replace(/^\[(.*)\]$/, '$1'), () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

type SentMetrics = Parameters<typeof sumOfMetrics>[0][number];

class Cluster {
  readonly #settings: Settings;
  readonly #quotas: Quotas;
  readonly #workers: (TrackedWorker | null)[];
  #stopping = false;
  /** The number of connections that were cut off. */
  #cutOff = 0;
  /** The callbacks of requests to workers for their metrics, by id. */
  readonly #metricsCallbacks = new Map<number, (metrics: SentMetrics) => void>();
  readonly #workerMetrics = new WorkerMetrics<TrackedWorker>();
  #metricsId = 0;

  constructor(settings: Settings, workers: number) {
    this.#settings = settings;
    this.#quotas = { sessions: new LocalQuota(settings.capacity), envs: new LocalQuota(settings.vecEnvs) };
    this.#workers = Array<TrackedWorker | null>(workers).fill(null);
  }

  /** Starts all workers. @throws the error of a worker that cannot start. */
  async start(): Promise<void> {
    await Promise.all(this.#workers.map((_, index) => this.#run(index, FIRST_DELAY_MS)));
  }

  /**
   * Ends all workers when their requests have ended. A worker cuts off its requests after `graceMs` milliseconds, and is
   * killed if it still runs END_MS later.
   * @returns the number of connections that were cut off.
   */
  async stop(graceMs: number): Promise<number> {
    this.#stopping = true;
    const running = this.#workers.filter((worker) => worker !== null);
    const ended = running.map(
      ({ clusterWorker }) => new Promise((resolve) => clusterWorker.once('exit', resolve)),
    );
    for (const worker of running) worker.send({ type: 'stop', graceMs });
    const timer = setTimeout(() => {
      for (const { clusterWorker } of running) clusterWorker.process.kill('SIGKILL');
    }, graceMs + END_MS);
    await Promise.all(ended);
    clearTimeout(timer);
    return this.#cutOff;
  }

  /**
   * Starts a worker, and replaces it when it ends after it was ready.
   * @param delayMs the wait before the replacement, if the worker ran for at most STABLE_MS.
   * @throws the error of a worker that cannot start.
   */
  #run(index: number, delayMs: number): Promise<void> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const onClusterMessage = (worker: TrackedWorker, message: ClusterMessage): void => {
        if (message.type === 'loaded') worker.send({ type: 'start', options: this.#optionsOf(index) });
        else if (message.type === 'ready') {
          worker.isReady = true;
          resolve();
        } else if (message.type === 'failed') reject(toError(message.error));
        else this.#onClusterMessage(worker, message);
      };
      const worker = new TrackedWorker(cluster.fork(), this.#quotas, onClusterMessage);
      this.#workers[index] = worker;
      worker.clusterWorker.once('exit', (code, signal) => {
        const { sockets, isReady } = worker;
        this.#workers[index] = null;
        this.#workerMetrics.end(worker);
        worker.release();
        // Has no effect if the worker was ready.
        reject(new Error(`Expected worker ${index + 1} to start, but it ended with ${signal ?? code}.`));
        if (this.#stopping || !isReady) return;
        const isStable = performance.now() - startedAt > STABLE_MS;
        log(
          `Worker ${index + 1} ended with ${signal ?? code}. Clients of its ${sockets} WebSockets are told to reconnect.`,
        );
        void this.#replace(index, isStable ? FIRST_DELAY_MS : delayMs);
      });
    });
  }

  async #replace(index: number, delayMs: number): Promise<void> {
    const nextMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    await sleep(delayMs, undefined, { ref: false });
    if (this.#stopping) return;
    try {
      await this.#run(index, nextMs);
      log(`Worker ${index + 1} was replaced.`);
    } catch (error) {
      if (this.#stopping) return;
      // A worker that could not start a server may still run.
      this.#workers[index]?.clusterWorker.process.kill('SIGKILL');
      log(`Worker ${index + 1} cannot start; trying again: ${(error as Error).message}`);
      void this.#replace(index, nextMs);
    }
  }

  /** Returns the options of a worker, with its share of the limits for which the primary keeps no quota. */
  #optionsOf(index: number): ServeOptions {
    const { onFailure: _, ...settings } = this.#settings;
    const { backend, threads } = settings;
    const workers = this.#workers.length;
    const part = (total: number): number => Math.floor(total / workers) + (index < total % workers ? 1 : 0);
    return {
      ...settings,
      batchRequests: Math.max(part(settings.batchRequests), 1),
      batchQueue: part(settings.batchQueue),
      threads: mayHaveThreads(backend)
        ? Math.max(Math.floor((threads ?? availableParallelism()) / workers), 1)
        : threads,
    };
  }

  #onClusterMessage(worker: TrackedWorker, message: ClusterMessage): void {
    if (message.type === 'stopped') this.#cutOff += message.cutOff;
    else if (message.type === 'own metrics') this.#metricsCallbacks.get(message.id)?.(message.metrics);
    else if (message.type === 'get metrics') {
      const { id } = message;
      void this.#metricsText().then((text) => worker.send({ type: 'metrics', id, text }));
    }
  }

  async #metricsText(): Promise<string> {
    const ready = this.#workers.filter((worker) => worker?.isReady) as TrackedWorker[];
    await Promise.all(
      ready.map(async (worker) => {
        const metrics = await this.#metricsOf(worker);
        if (metrics !== null && this.#workers.includes(worker)) this.#workerMetrics.update(worker, metrics);
      }),
    );
    return sumOfMetrics(this.#workerMetrics.all());
  }

  /** Returns the metrics of a worker; null if it ends or is busy. */
  async #metricsOf(worker: TrackedWorker): Promise<SentMetrics | null> {
    const id = this.#metricsId++;
    const message: ToWorker = { type: 'get own metrics', id };
    let resolveNull = (): void => {};
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        resolveNull = () => resolve(null);
        this.#metricsCallbacks.set(id, resolve);
        worker.clusterWorker.once('exit', resolveNull);
        timer = setTimeout(resolveNull, METRICS_MS);
        worker.send(message);
      });
    } finally {
      clearTimeout(timer);
      worker.clusterWorker.off('exit', resolveNull);
      this.#metricsCallbacks.delete(id);
    }
  }
}

/** Restores a worker's error. */
function toError({ message, code, syscall, stack }: SentError): Error {
  if (syscall !== undefined) return Object.assign(new Error(message), { code, syscall });
  // The primary has validated the options, so an error of this package is a BackendError.
  if (code !== undefined) return new BackendError(code as never, message);
  return Object.assign(new Error(message), { stack });
}

const log = (text: string): void => {
  process.stderr.write(`${text}\n`);
};
