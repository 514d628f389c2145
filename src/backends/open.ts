/** From what a caller asks for to an open batch. */
import { BackendError, InputError } from '../errors.js';
import { checkString, describe } from '../validate/values.js';
import type { Batch, BatchOptions, OutputLayout, Outputs } from './backend.js';
import { chooseBackend } from './choose.js';
import { allocateOutputs } from './outputs.js';

export interface OpenBatch {
  readonly batch: Batch;
  readonly outputs: Outputs;
  /** Why this backend. */
  readonly reason: string;
}

/**
 * Opens a batch and what it writes into. A machine without the memory is an error of ours, not the platform's.
 * @throws InputError for a backend or kernel that is none; BackendError for one that cannot be used here.
 */
export function openBatch(
  asked: { backend?: string; kernel?: string },
  { layout, ...options }: Omit<BatchOptions, 'outputs' | 'kernel'> & { layout: OutputLayout },
): OpenBatch {
  const wanted = checkString('backend', asked.backend === undefined ? 'auto' : asked.backend);
  const kernel = kernelFor(wanted, asked.kernel);
  const { backend, reason } = chooseBackend(wanted, kernel);
  try {
    const outputs = allocateOutputs(options.numEnvs, layout, backend.lead);
    return { batch: backend.open({ ...options, kernel, outputs }), outputs, reason };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new BackendError(
      'out_of_memory',
      `Expected memory for ${options.numEnvs} episodes, got none. ${cause.message} Open fewer, or close others.`,
      { cause },
    );
  }
}

/** The kernel asked for: by the option, or, where a kernel can run, by `RHYTHM_KERNEL`. */
function kernelFor(backend: string, kernel: string | undefined): string | null {
  const forced = backend === 'reference' ? null : globalThis.process?.env.RHYTHM_KERNEL || null;
  if (kernel === undefined) return forced;
  if (backend !== 'reference') return checkString('kernel', kernel);
  throw new InputError(
    'unknown_name',
    `Expected no kernel with backend "reference", which has none, got ${describe(kernel)}. ` +
      'Leave it out, or use backend "native".',
  );
}
