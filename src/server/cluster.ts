/**
 * A server of several worker processes of node:cluster. The primary process accepts the connections and hands them to the
 * workers in turn. It collects the metrics, and replaces workers that end.
 */
import cluster, { type Worker } from 'node:cluster';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AggregatorRegistry } from 'prom-client';
import { mayHaveThreads } from '../engine/backends/open-batch.js';
import { BackendError, InputError } from '../shared/errors.js';
import { checkInteger } from '../shared/values.js';
import type { ToPrimary, ToWorker } from './serve-worker.js';
import { listen, type RunningServer, runningServer } from './server.js';
import { type ServeOptions, type Settings, toServeSettings } from './server-options.js';

/** The program of a worker, beside this file in dist and beside its bundle in lib. */
const PROGRAM = './serve-worker.js';
const WORKER = fileURLToPath(new URL(PROGRAM, import.meta.url));
/** Chosen by hand. The number of processor cores is a further limit. */
const MAX_WORKERS = 256;
/** The limits that are divided among the workers. Each gets at least one. */
const LIMITS = ['capacity', 'vecEnvs', 'batchRequests', 'batchQueue'] as const;
/** Milliseconds before an ended worker is replaced. Chosen by hand: workers that keep ending take less time with a longer one. */
const DELAY_MS = 500;
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
    throw new InputError('out_of_range', {
      expected: `at most ${cores} workers, one for each processor core`,
      got: `${workers}`,
      remedy: `More do not help: pass --workers ${cores}.`,
    });
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
  return runningServer({ ...settings, port }, (graceMs = END_MS) => running.stop(graceMs));
}

/** Returns a free port, which all workers use, replacements included. */
async function freePort(settings: Settings): Promise<number> {
  const server = createServer();
  const port = await listen(server, settings);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const log = (text: string): void => void process.stderr.write(`${text}\n`);

class Cluster {
  readonly #settings: Settings;
  readonly #count: number;
  readonly #metrics = new AggregatorRegistry();
  readonly #workers = new Set<Worker>();
  #stopping = false;
  /** The number of connections that were cut off. */
  #cutOff = 0;

  constructor(settings: Settings, count: number) {
    this.#settings = settings;
    this.#count = count;
  }

  /** Starts all workers. @throws the error of a worker that cannot start. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#count }, (_, index) => this.#run(index)));
  }

  /**
   * Ends all workers when their requests have ended. A worker cuts off its requests after `graceMs` milliseconds, and is
   * killed if it still runs END_MS later.
   * @returns the number of connections that were cut off.
   */
  async stop(graceMs: number): Promise<number> {
    this.#stopping = true;
    const running = [...this.#workers];
    const ended = running.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of running) this.#send(worker, { graceMs });
    const kill = (): void => running.forEach((worker) => void worker.process.kill('SIGKILL'));
    const timer = setTimeout(kill, graceMs + END_MS);
    await Promise.all(ended);
    clearTimeout(timer);
    return this.#cutOff;
  }

  /** Starts a worker, and replaces it when it ends after it was ready. @throws the error of a worker that cannot start. */
  #run(index: number): Promise<void> {
    const worker = cluster.fork();
    this.#workers.add(worker);
    worker.on('error', () => {});
    return new Promise((resolve, reject) => {
      let isReady = false;
      worker.once('listening', () => {
        isReady = true;
        resolve();
      });
      worker.on('message', ({ loaded, error, metricsId, cutOff = 0 }: ToPrimary) => {
        if (loaded) this.#send(worker, { options: this.#optionsOf(index) });
        else if (error !== undefined) {
          // The primary has validated the options, so an error of this package is a BackendError.
          const { code, syscall, message } = error;
          const isSystem = code === undefined || syscall !== undefined;
          reject(isSystem ? Object.assign(new Error(), error) : new BackendError(code as never, message));
          worker.process.kill('SIGKILL');
        } else if (metricsId !== undefined) void this.#sendMetrics(worker, metricsId);
        this.#cutOff += cutOff;
      });
      worker.once('exit', (code, signal) => {
        this.#workers.delete(worker);
        // Has no effect if the worker was ready.
        reject(new Error(`Expected worker ${index + 1} to start, but it ended with ${signal ?? code}.`));
        if (this.#stopping || !isReady) return;
        log(`Worker ${index + 1} ended with ${signal ?? code}. Its clients must connect again.`);
        void this.#replace(index);
      });
    });
  }

  async #replace(index: number): Promise<void> {
    await sleep(DELAY_MS, undefined, { ref: false });
    if (this.#stopping) return;
    try {
      await this.#run(index);
      log(`Worker ${index + 1} was replaced.`);
    } catch (error) {
      log(`Worker ${index + 1} cannot start; trying again: ${(error as Error).message}`);
      void this.#replace(index);
    }
  }

  /** Returns the options of a worker, with its part of the limits. */
  #optionsOf(index: number): ServeOptions {
    const { onFailure: _, ...settings } = this.#settings;
    const threads = Math.max(Math.floor((settings.threads ?? availableParallelism()) / this.#count), 1);
    const partOf = (total: number): number =>
      Math.max(Math.floor((total + this.#count - 1 - index) / this.#count), Math.min(total, 1));
    const limits = Object.fromEntries(LIMITS.map((name) => [name, partOf(settings[name])]));
    // A backend without threads refuses a number of them.
    return { ...settings, ...limits, threads: mayHaveThreads(settings.backend) ? threads : settings.threads };
  }

  /** Sends the metrics of all workers. If one ends meanwhile, prom-client waits for it in vain; the others are asked again. */
  async #sendMetrics(worker: Worker, id: number): Promise<void> {
    const collect = (): Promise<string> => this.#metrics.clusterMetrics();
    const text = await collect().catch(() => collect().catch(() => null));
    this.#send(worker, { metrics: { id, text } });
  }

  /** Sends a message, which is lost if the worker ends. */
  #send(worker: Worker, message: ToWorker): void {
    if (worker.isConnected()) worker.send(message, () => {});
  }
}
