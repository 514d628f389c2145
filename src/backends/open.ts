/** From what a caller asks for to an open batch. */
import { BackendError, InputError } from '../errors.js';
import { checkString, describe } from '../validate/values.js';
import type { AsyncBatch, DeviceOptions } from './async-backend.js';
import type { Backend, Batch, BatchOptions, OutputLayout, Outputs } from './backend.js';
import { checkBackend, chooseAsyncFrom, chooseFrom, takesKernel } from './choice.js';
import { allocateOutputs } from './outputs.js';
import type { Platform } from './platform.js';

/** By whom a batch is to be computed, as a caller says it. */
export interface Asked {
  readonly backend?: string;
  readonly kernel?: string;
}

/** What a batch is to be. */
export type Shape = Omit<BatchOptions, 'outputs' | 'kernel'> & { readonly layout: OutputLayout };

export interface Opened<Kind> {
  readonly batch: Kind;
  readonly outputs: Outputs;
  /** Why this backend. */
  readonly reason: string;
}

export interface OpenedAsync extends Opened<AsyncBatch> {
  /** Another batch of the same backend that writes the same outputs: for when this one is lost. */
  again(): Promise<AsyncBatch>;
}

/**
 * Opens a batch and what it writes into. A machine without the memory is an error of ours, not the platform's.
 * @throws InputError for a backend or kernel that is none; BackendError for one that cannot be used here.
 */
export function openBatch(platform: Platform, asked: Asked, shape: Shape): Opened<Batch> {
  const wanted = checkBackend(platform, 'backends', asked.backend);
  const kernel = kernelFor(platform.backends, wanted, asked.kernel);
  const { backend, reason } = chooseFrom(platform.backends, wanted, kernel);
  try {
    const options = optionsOf(shape, kernel, backend);
    return { batch: backend.open(options), outputs: options.outputs, reason };
  } catch (cause) {
    throw orOutOfMemory(cause, shape.numEnvs);
  }
}

/** The same behind the asynchronous seam. @throws as `openBatch`. */
export async function openAsyncBatch(
  platform: Platform,
  asked: Asked,
  shape: Shape,
  device: DeviceOptions,
): Promise<OpenedAsync> {
  const wanted = checkBackend(platform, 'asyncBackends', asked.backend);
  const kernel = kernelFor(platform.asyncBackends, wanted, asked.kernel);
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

/** @throws RangeError without memory for the outputs. */
function optionsOf(
  { numEnvs, world, imagination, threads, layout }: Shape,
  kernel: string | null,
  { lead }: Pick<Backend, 'lead'>,
): BatchOptions {
  const outputs = allocateOutputs(numEnvs, layout, lead);
  return { numEnvs, world, imagination, threads, kernel, outputs };
}

function orOutOfMemory(cause: unknown, numEnvs: number): unknown {
  if (!(cause instanceof RangeError)) return cause;
  return new BackendError(
    'out_of_memory',
    `Expected memory for ${numEnvs} episodes, got none. ${cause.message} Open fewer, or close others.`,
    { cause },
  );
}

/** The kernel asked for: by the option, or, where a kernel can run, by `RHYTHM_KERNEL`. */
function kernelFor(
  backends: readonly { readonly name: string }[],
  backend: string,
  kernel: string | undefined,
): string | null {
  const taken = takesKernel(backends, backend);
  if (kernel === undefined) return (taken && globalThis.process?.env?.RHYTHM_KERNEL) || null;
  if (taken) return checkString('kernel', kernel);
  throw new InputError(
    'unknown_name',
    `Expected no kernel with backend ${JSON.stringify(backend)}, which has none, got ${describe(kernel)}. ` +
      'Leave it out, or use backend "native".',
  );
}
