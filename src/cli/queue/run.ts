/** Runs `rhythm-vec queue work`, `queue status` and `queue cancel`. */
import { dollars } from '../../agents/llm/ledger.js';
import { openEnv } from '../../engine/node.js';
import { counted, grouped } from '../../evaluation/format-results.js';
import { cancel, type JobStatus, readStatus } from '../../server/queue/shards.js';
import { work } from '../../server/queue/worker.js';
import { BackendError } from '../../shared/errors.js';
import { snakeCase } from '../../shared/names.js';
import { isQuiet } from '../progress.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { renderColumns } from '../text-table.js';
import { addressOf, checkRange, type QueueOptions, releaseHere, withQueue } from './queue-options.js';

export interface WorkOptions extends QueueOptions, EngineOptions {
  readonly concurrency: number;
  readonly lease: number;
  readonly untilEmpty?: boolean;
}

/** The module that a worker's threads run. It is beside this module in `dist` and in the bundle. */
const PROGRAM = './shard-program.js';
/** The maximum of --concurrency. Chosen by hand: each shard has a thread of its own. */
const MAX_CONCURRENCY = 256;
/**
 * The shortest and the longest lease, in seconds. A lease is renewed when half of it is over. Chosen by hand: with a shorter
 * lease a busy worker may lose its shards, with a longer one the shards of a killed worker wait longer.
 */
const LEASES = [2, 3600] as const;

/** Computes shards until the signal aborts, or with `untilEmpty` until no shard is left. @throws as `work`; BackendError. */
export async function runWork(options: WorkOptions, signal: AbortSignal): Promise<void> {
  const { concurrency, lease, untilEmpty = false, backend = 'native', kernel, threads = 1 } = options;
  checkRange('--concurrency', concurrency, 1, MAX_CONCURRENCY);
  checkRange('--lease', lease, ...LEASES);
  checkEngineOptions(options);
  const address = addressOf(options);
  await checkBackend(options);
  const computed = await work(
    {
      address,
      release: releaseHere(),
      concurrency,
      untilEmpty,
      leaseMs: lease * 1000,
      program: new URL(PROGRAM, import.meta.url),
      engine: { backend, kernel, threads },
      onNote: (note) => process.stderr.write(`${note}\n`),
    },
    signal,
  );
  if (!isQuiet()) process.stderr.write(`${counted(computed, 'shard')} computed.\n`);
}

/** Opens the backend once, so that a worker without an addon takes no shard. @throws BackendError; InputError. */
async function checkBackend({ backend = 'native', kernel, threads = 1 }: EngineOptions): Promise<void> {
  try {
    await using _ = await openEnv({ numEnvs: 1, backend, kernel, threads });
  } catch (error) {
    if (!(error instanceof BackendError) || backend !== 'native') throw error;
    throw new BackendError(
      error.code,
      `${error.message} A worker uses a slower backend only on request: pass --backend wasm.`,
    );
  }
}

/** Cancels a job. */
export async function runCancel(name: string, options: QueueOptions): Promise<void> {
  const before = await withQueue(options, (queue) => cancel(queue, name));
  process.stderr.write(before === 'open' ? `${name} is cancelled.\n` : `${name} was ${before} already.\n`);
}

/** Column heads. "per second" counts rows, and "left" is the estimated time. */
const HEADS = ['job', 'state', 'shards', 'active', 'rows', 'per second', 'left', 'failures', 'spent'];

/** Prints the status of one job or of all jobs. */
export async function runStatus(
  name: string | undefined,
  options: QueueOptions & { readonly json?: boolean },
): Promise<void> {
  const jobs = await withQueue(options, (queue) => readStatus(queue, name));
  if (options.json) {
    const rows = jobs.map((job) =>
      Object.fromEntries(Object.entries(job).map(([key, value]) => [snakeCase(key), value])),
    );
    process.stdout.write(`${JSON.stringify(name === undefined ? rows : rows[0])}\n`);
    return;
  }
  if (jobs.length === 0) process.stdout.write('No jobs.\n');
  else process.stdout.write(`${tableOf(jobs)}\n${jobs.map(notesOf).join('')}`);
}

const tableOf = (jobs: readonly JobStatus[]): string =>
  renderColumns(
    HEADS,
    HEADS.map((_, k) => (k < 2 ? 'left' : 'right')),
    jobs.map((job) => [
      job.name,
      job.state,
      `${job.finished}/${job.shards}`,
      String(job.active),
      `${grouped(job.finishedRows)}/${grouped(job.rows)}`,
      job.rowsPerSecond === null ? '-' : job.rowsPerSecond.toPrecision(3),
      job.secondsLeft === null ? '-' : duration(job.secondsLeft),
      String(job.failures),
      job.spent === null ? '-' : dollars(job.spent),
    ]),
  );

/** Returns lines about failed shards, about shards that gave other bytes, and about the file that `collect` wrote. */
function notesOf({ name, failed, different, file }: JobStatus): string {
  const lines = [
    ...failed.map(
      ({ index, attempts, error }) => `${name}: shard ${index} failed ${attempts} times: ${error}`,
    ),
    ...different.map((index) => `${name}: shard ${index} gave other bytes when it was computed again.`),
    ...(file === null ? [] : [`${name}: collected into ${file}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Formats seconds: "50 s", "12 min", "3.5 h". */
const duration = (seconds: number): string => {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
};
