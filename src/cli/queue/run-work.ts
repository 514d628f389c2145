/** Runs `rhythm-vec queue work`. */
import { openAnyVecEnv } from '../../engine/node.js';
import { counted } from '../../evaluation/format-results.js';
import { work } from '../../server/queue/work.js';
import { BackendError } from '../../shared/errors.js';
import { UsageError } from '../command-errors.js';
import { isQuiet } from '../quiet.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { addressOf, type QueueOptions, releaseHere } from './queue-options.js';

export interface WorkCommandOptions extends QueueOptions, EngineOptions {
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

/**
 * Computes shards until the signal aborts, or with `untilEmpty` until no shard is left.
 * @throws UsageError; BackendError; QueueError; LibraryError.
 */
export async function runWork(options: WorkCommandOptions, signal: AbortSignal): Promise<void> {
  checkRange('--concurrency', options.concurrency, 1, MAX_CONCURRENCY);
  checkRange('--lease', options.lease, ...LEASES);
  checkEngineOptions(options);
  const address = addressOf(options);
  await checkBackend(options);
  const { concurrency, lease, untilEmpty = false, backend, kernel, threads = 1 } = options;
  const computed = await work(
    {
      address,
      release: releaseHere(),
      concurrency,
      untilEmpty,
      leaseMs: lease * 1000,
      program: new URL(PROGRAM, import.meta.url),
      engine: { backend: backend ?? 'native', kernel, threads },
      onNote: (note) => process.stderr.write(`${note}\n`),
    },
    signal,
  );
  if (!isQuiet()) process.stderr.write(`${counted(computed, 'shard')} computed.\n`);
}

function checkRange(option: string, value: number, low: number, high: number): void {
  if (value >= low && value <= high) return;
  throw new UsageError(
    `Expected ${option} to be from ${low} to ${high}, got ${value}. Pass a number in that range.`,
  );
}

/** Opens the backend once, so that a worker without an addon takes no shard. @throws BackendError; InputError. */
async function checkBackend({ backend = 'native', kernel, threads = 1 }: EngineOptions): Promise<void> {
  try {
    await using _ = await openAnyVecEnv({ numEnvs: 1, backend, kernel, threads });
  } catch (error) {
    if (!(error instanceof BackendError) || backend !== 'native') throw error;
    throw new BackendError(
      error.code,
      `${error.message} A worker uses a slower backend only on request: pass --backend wasm.`,
    );
  }
}
