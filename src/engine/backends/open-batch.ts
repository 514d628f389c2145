/** Opens a batch: chooses its backend and allocates its outputs. */
import { BackendError, InputError } from '../../shared/errors.js';
import { checkString, describe } from '../../shared/values.js';
import { readVariable } from '../../shared/variables.js';
import type { AsyncBatch, DeviceOptions } from './async-backend.js';
import type { Backend, Batch, BatchOptions, OutputLayout, Outputs } from './backend.js';
import { checkBackend, chooseAsyncFrom, chooseFrom, takesKernel } from './choose-backend.js';
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
export interface OpenedBatch<Kind> {
  readonly batch: Kind;
  readonly outputs: Outputs;
  /** The reason why this backend was chosen. */
  readonly reason: string;
}

/** An open asynchronous batch. */
export interface OpenedAsyncBatch extends OpenedBatch<AsyncBatch> {
  /** Opens another batch on the same backend, with the same outputs, after this batch was lost. */
  reopen(): Promise<AsyncBatch>;
}

/**
 * Opens a batch and allocates its outputs.
 * @throws InputError for an unknown backend, or a kernel with a backend that has none; BackendError for a backend that cannot be
 *   used here, a kernel that this machine does not have, or a lack of memory.
 */
export function openBatch(platform: Platform, choice: BackendChoice, shape: BatchShape): OpenedBatch<Batch> {
  const requested = checkBackend(platform, 'backends', choice.backend);
  const kernel = kernelFor(platform.backends, requested, choice.kernel);
  checkThreads(requested, shape.threads);
  const { backend, reason, isFallback } = chooseFrom(platform.backends, requested, kernel);
  if (isFallback) platform.warn?.(reason);
  try {
    const options = optionsOf(shape, kernel, backend);
    return { batch: backend.open(options), outputs: options.outputs, reason };
  } catch (cause) {
    throw convertRangeError(cause, shape.numEnvs);
  }
}

/** Does the same as `openBatch` for asynchronous backends. */
export async function openAsyncBatch(
  platform: Platform,
  choice: BackendChoice,
  shape: BatchShape,
  device: DeviceOptions,
): Promise<OpenedAsyncBatch> {
  const requested = checkBackend(platform, 'asyncBackends', choice.backend);
  const kernel = kernelFor(platform.asyncBackends, requested, choice.kernel);
  checkThreads(requested, shape.threads);
  const { backend, reason, isFallback } = await chooseAsyncFrom(
    platform.asyncBackends,
    requested,
    kernel,
    device,
  );
  if (isFallback) platform.warn?.(reason);
  const refuse = (cause: unknown): never => {
    throw convertRangeError(cause, shape.numEnvs);
  };
  try {
    const options = { ...optionsOf(shape, kernel, backend), device };
    const reopen = () => backend.open(options).catch(refuse);
    return { batch: await reopen(), outputs: options.outputs, reason, reopen };
  } catch (cause) {
    return refuse(cause);
  }
}

/** Returns the options of a batch, with newly allocated outputs. @throws RangeError if there is not enough memory. */
function optionsOf(
  { numEnvs, world, imagination, threads, layout }: BatchShape,
  kernel: string | null,
  { placeOutputs }: Pick<Backend, 'placeOutputs'>,
): BatchOptions {
  const outputs = allocateOutputs(numEnvs, layout, placeOutputs);
  return { numEnvs, world, imagination, threads, kernel, outputs };
}

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
