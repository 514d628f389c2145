/** Opens a batch: chooses its backend and allocates its outputs. */
import { BackendError, InputError } from '../../shared/errors.js';
import { checkString, describe } from '../../shared/values.js';
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
export interface Opened<Kind> {
  readonly batch: Kind;
  readonly outputs: Outputs;
  /** Why this backend was chosen. */
  readonly reason: string;
}

export interface OpenedAsync extends Opened<AsyncBatch> {
  /** Opens another batch on the same backend, with the same outputs, after the loss of this one. */
  again(): Promise<AsyncBatch>;
}

/**
 * Opens a batch and allocates its outputs.
 * @throws InputError for an unknown backend or kernel; BackendError for one that cannot be used here, or without
 *   memory.
 */
export function openBatch(platform: Platform, choice: BackendChoice, shape: BatchShape): Opened<Batch> {
  const wanted = checkBackend(platform, 'backends', choice.backend);
  const kernel = kernelFor(platform.backends, wanted, choice.kernel);
  const { backend, reason } = chooseFrom(platform.backends, wanted, kernel);
  try {
    const options = optionsOf(shape, kernel, backend);
    return { batch: backend.open(options), outputs: options.outputs, reason };
  } catch (cause) {
    throw orOutOfMemory(cause, shape.numEnvs);
  }
}

/** As `openBatch`, for asynchronous backends. */
export async function openAsyncBatch(
  platform: Platform,
  choice: BackendChoice,
  shape: BatchShape,
  device: DeviceOptions,
): Promise<OpenedAsync> {
  const wanted = checkBackend(platform, 'asyncBackends', choice.backend);
  const kernel = kernelFor(platform.asyncBackends, wanted, choice.kernel);
  const { backend, reason } = await chooseAsyncFrom(platform.asyncBackends, wanted, kernel);
  const refuse = (cause: unknown): never => {
    throw orOutOfMemory(cause, shape.numEnvs);
  };
  try {
    const options = { ...optionsOf(shape, kernel, backend), device };
    const again = () => backend.open(options).catch(refuse);
    return { batch: await again(), outputs: options.outputs, reason, again };
  } catch (cause) {
    return refuse(cause);
  }
}

/** Allocates the outputs of a batch. @throws RangeError without memory. */
function optionsOf(
  { numEnvs, world, imagination, threads, layout }: BatchShape,
  kernel: string | null,
  { bytesToCacheLine }: Pick<Backend, 'bytesToCacheLine'>,
): BatchOptions {
  const outputs = allocateOutputs(numEnvs, layout, bytesToCacheLine);
  return { numEnvs, world, imagination, threads, kernel, outputs };
}

/** Converts a RangeError, which means a lack of memory, to a BackendError. Returns other errors as they are. */
export function orOutOfMemory(cause: unknown, numEnvs: number): unknown {
  if (!(cause instanceof RangeError)) return cause;
  return new BackendError(
    'out_of_memory',
    `Expected memory for ${numEnvs} episodes, got none. ${cause.message} Open fewer, or close others.`,
    { cause },
  );
}

/** Returns the kernel of the option, or, if the backend has kernels, of `RHYTHM_KERNEL`; null for none. */
function kernelFor(
  backends: readonly { readonly name: string }[],
  backend: string,
  kernel: string | undefined,
): string | null {
  const hasKernel = takesKernel(backends, backend);
  if (kernel === undefined) return (hasKernel && globalThis.process?.env?.RHYTHM_KERNEL) || null;
  if (hasKernel) return checkString('kernel', kernel);
  throw new InputError(
    'unknown_name',
    `Expected no kernel with backend ${JSON.stringify(backend)}, which has none, got ${describe(kernel)}. ` +
      'Leave it out, or use backend "native".',
  );
}
