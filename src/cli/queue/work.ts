/** `rhythm-vec queue work`: computes shards of submitted jobs. */
import type { Command } from 'commander';
import { ASYNC_BACKENDS } from '../../engine/backends/node.js';
import { openEnv } from '../../engine/node.js';
import { counted } from '../../evaluation/format-results.js';
import { work } from '../../server/queue/worker.js';
import { BackendError } from '../../shared/errors.js';
import type { Context } from '../context.js';
import { isQuiet } from '../progress.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions, parseInteger } from '../shared-options.js';
import { addQueueOptions, addressOf, checkRange, type QueueOptions, releaseHere } from './queue-options.js';

const HELP = `
A worker runs until it is interrupted, or until a job of another version or world comes, and then gives its shards back. With
--until-empty it ends when no shard is left. Start as many workers as there are cores, or one worker with --concurrency. A
worker renews the leases of its shards. If it is killed or hangs, another worker takes the shards over after --lease. Keys of
language models are read from this worker's environment variables. They are never stored in Redis.

Examples:
  rhythm-vec queue work --redis redis://127.0.0.1:6379 --concurrency 2
  rhythm-vec queue work --until-empty
`;

export function defineWork(command: Command, { signal }: Context): void {
  command
    .option('--concurrency <n>', 'shards at a time, each in a thread, 1 to 256', parseInteger, 1)
    .option(
      '--lease <s>',
      'seconds after which another worker takes over the shards of a worker that was killed or hangs',
      parseInteger,
      30,
    )
    .option('--until-empty', 'end when no shard is left');
  addEngineOptions(addQueueOptions(command), ASYNC_BACKENDS, { backend: 'native', threads: '1' })
    .addHelpText('after', HELP)
    .action((options: WorkOptions) => runWork(options, signal));
}

interface WorkOptions extends QueueOptions, EngineOptions {
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
async function runWork(options: WorkOptions, signal: AbortSignal): Promise<void> {
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
