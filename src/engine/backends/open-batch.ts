/** Opens a batch: chooses its backend and allocates its outputs. */
import { BackendError, InputError } from '../../shared/errors.js';
import { checkString, describe } from '../../shared/values.js';
import { readVariable } from '../../shared/variables.js';
import { type EngineCalls, resultOf, runAsync, runSync } from '../engine-calls.js';
import type { Awaitable, Batch, BatchOptions, OutputLayout, Outputs, SyncBatch } from './backend.js';
import { checkBackend, chooseFrom, isAsynchronous, takesKernel } from './choose-backend.js';
import { allocateOutputs } from './outputs.js';
import type { Platform } from './platform.js';

/** The caller's options `backend` and `kernel`. */
export interface BackendChoice {
  readonly backend?: string;
  readonly kernel?: string;
}

/** The properties of a batch to open. */
export type BatchShape = Omit<BatchOptions, 'outputs' | 'kernel'> & { readonly layout: OutputLayout };

/** An open batch. */
export interface OpenedBatch<Kind extends Batch = Batch> {
  readonly batch: Kind;
  readonly outputs: Outputs;
  /** The reason why this backend was chosen. */
  readonly reason: string;
  /** Opens another batch on the same backend, with the same outputs, after this batch was lost. */
  reopen(): EngineCalls<Batch>;
}

/** A function that opens a batch: `openBatch`, or `openSyncBatch`, which opens only synchronous backends. */
export type OpenBatch = (
  platform: Platform,
  choice: BackendChoice,
  shape: BatchShape,
) => Awaitable<OpenedBatch>;

/**
 * Opens a batch and allocates its outputs.
 * @param list selects the platform's synchronous backends, or all.
 * @throws InputError for an unknown backend, or a kernel with a backend that has none; BackendError for a backend that cannot be
 *   used here, a kernel that this machine does not have, or a lack of memory.
 */
export function* openFrom(
  platform: Platform,
  list: 'backends' | 'asyncBackends',
  choice: BackendChoice,
  { numEnvs, world, imagination, threads, device, layout }: BatchShape,
): EngineCalls<OpenedBatch> {
  const backends = platform[list];
  const requested = checkBackend(platform, list, choice.backend);
  const kernel = kernelFor(backends, requested, choice.kernel);
  checkThreads(requested, threads);
  const { backend, reason, isFallback } = yield* chooseFrom(backends, requested, kernel, device);
  if (isFallback) platform.warn?.(reason);
  let outputs: Outputs | undefined;
  function* open(): EngineCalls<Batch> {
    try {
      outputs ??= allocateOutputs(numEnvs, layout, backend.placeOutputs);
      const options = { numEnvs, world, imagination, threads, kernel, outputs, device };
      return yield* resultOf(backend.open(options));
    } catch (cause) {
      throw convertRangeError(cause, numEnvs);
    }
  }
  const batch = yield* open();
  return { batch, outputs: outputs!, reason, reopen: open };
}

/** Opens a batch on a synchronous backend. @throws as `openFrom`. */
export const openSyncBatch = (
  platform: Platform,
  choice: BackendChoice,
  shape: BatchShape,
): OpenedBatch<SyncBatch> =>
  // The backends of this list open synchronous batches.
  runSync(openFrom(platform, 'backends', choice, shape)) as OpenedBatch<SyncBatch>;

/**
 * Opens a batch on any backend, synchronous if the backend allows it, because calls are then faster. 'auto' chooses among the
 * synchronous backends. @throws as `openFrom`; the promise of an asynchronous backend rejects with these errors.
 */
export const openBatch: OpenBatch = (platform, choice, shape) =>
  isAsynchronous(platform, choice.backend)
    ? runAsync(openFrom(platform, 'asyncBackends', choice, shape))
    : openSyncBatch(platform, choice, shape);

/** Converts a RangeError, which means a lack of memory, to a BackendError. Returns any other error unchanged. */
export function convertRangeError(cause: unknown, numEnvs: number): unknown {
  if (!(cause instanceof RangeError)) return cause;
  return new BackendError(
    'out_of_memory',
    `Expected memory for ${numEnvs} environments, got none. ${cause.message} Lower numEnvs, or close other environments.`,
    { cause },
  );
}

/**
 * Returns the kernel of the option, else of the environment variable `RHYTHM_KERNEL`; null for none. A backend without kernels
 * refuses the option and ignores the variable.
 */
function kernelFor(
  backends: readonly { readonly name: string }[],
  backend: string,
  kernel: string | undefined,
): string | null {
  const hasKernel = takesKernel(backends, backend);
  if (kernel === undefined) return (hasKernel && readVariable('RHYTHM_KERNEL')) || null;
  if (hasKernel) return checkString('kernel', kernel);
  throw new InputError(
    'unknown_name',
    `Expected no kernel with backend ${JSON.stringify(backend)}, which has none, got ${describe(kernel)}. ` +
      'Leave out kernel, or use backend "native".',
  );
}

/** Refuses several threads for the backend `wasm`. With 'auto' they are for the backend that has them. */
function checkThreads(backend: string, threads: number | null): void {
  if (backend !== 'wasm' || threads === null || threads === 1) return;
  throw new InputError(
    'out_of_range',
    `Expected threads 1 with backend "wasm", whose memory belongs to one thread, got ${threads}. Leave out threads, or open ` +
      'an environment in each of several workers.',
  );
}
