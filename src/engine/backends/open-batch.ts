/** Chooses and lists backends, and opens a batch with its outputs. */

import { BackendError, InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkString, describe } from '../../shared/values.js';
import { readVariable } from '../../shared/variables.js';
import { type EngineCalls, resultOf, runAsync, runSync } from '../engine-calls.js';
import type { ReplayHistory } from '../observe/history.js';
import type {
  Availability,
  Awaitable,
  Backend,
  Batch,
  BatchOptions,
  OutputLayout,
  Outputs,
  SyncBackend,
  SyncBatch,
} from './backend.js';
import type { DeviceOptions } from './device-options.js';
import { allocateOutputs } from './outputs.js';

/** Backends in priority order. */
export interface Platform {
  /** The backends of synchronous environments. */
  readonly backends: readonly SyncBackend[];
  /** The backends of asynchronous environments: these, and those that return promises. */
  readonly asyncBackends: readonly Backend[];
  readonly replayHistory: ReplayHistory;
  /** Warns that 'auto' chose the reference, once per process. @param reason lists the backends tried before. */
  readonly warn?: (reason: string) => void;
}

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
  throw new InputError('unknown_name', {
    expected: `no kernel with backend ${JSON.stringify(backend)}, which has none`,
    got: describe(kernel),
    remedy: 'Leave out kernel, or use backend "native".',
  });
}

/** Refuses several threads for the backend `wasm`. With 'auto' they are for the backend that has them. */
function checkThreads(backend: string, threads: number | null): void {
  if (backend !== 'wasm' || threads === null || threads === 1) return;
  throw new InputError('out_of_range', {
    expected: 'threads 1 with backend "wasm", whose memory belongs to one thread',
    got: `${threads}`,
    remedy: 'Leave out threads, or open an environment in each of several workers.',
  });
}

/** The name that selects the first available backend. */
const AUTO = 'auto';
/** The backend with kernels to choose from, and with threads. */
const NATIVE = 'native';
/** The slowest backend, which is always available. */
const REFERENCE = 'reference';

/** The reason why 'auto' passes over a device that the processor emulates. */
const SOFTWARE = 'The processor emulates its device, which is slower than the backend wasm.';

/** A chosen backend. */
export interface Choice {
  readonly backend: Backend;
  /** Why this backend was chosen. For 'auto' it lists the backends tried before. */
  readonly reason: string;
  /** Whether the reference was chosen because no faster backend is available. */
  readonly isFallback: boolean;
}

const namesOf = (backends: readonly { readonly name: string }[]): string[] =>
  backends.map(({ name }) => name);

/**
 * Checks the name of a backend.
 * @param kind selects the platform's synchronous or asynchronous backends.
 * @throws InputError `wrong_type` or `unknown_name`.
 */
export function checkBackend(
  platform: Platform,
  kind: 'backends' | 'asyncBackends',
  choice: string = AUTO,
): string {
  const name = checkString('backend', choice);
  const known = [AUTO, ...namesOf(platform[kind])];
  if (known.includes(name)) return name;
  const elsewhere = namesOf(platform.asyncBackends).includes(name);
  throw new InputError(
    'unknown_name',
    `Expected backend to be one of ${known.join(', ')}, got ${JSON.stringify(name)}` +
      (elsewhere
        ? ', whose calls return promises. Use createAsyncVecEnv, createAsyncPlanner, scoreReplayAsync or grpoStatesAsync for it.'
        : `.${didYouMean(name, known)}`),
  );
}

/** Returns whether only the asynchronous API opens a backend. @throws InputError `wrong_type` or `unknown_name`. */
export function isAsynchronous(platform: Platform, backend: string | undefined): boolean {
  if (platform.backends.some(({ name }) => name === backend)) return false;
  const requested = checkBackend(platform, 'asyncBackends', backend);
  return platform.asyncBackends.some(({ name }) => name === requested);
}

/** Returns whether a backend has kernels to choose from. */
export const hasKernels = (name: string): boolean => name === NATIVE;

/** Returns whether a backend allows the option `kernel`. With a kernel, 'auto' selects `native`. */
export const takesKernel = (backends: readonly { readonly name: string }[], name: string): boolean =>
  hasKernels(name) || (name === AUTO && namesOf(backends).some(hasKernels));

/**
 * Returns whether threads have a meaning for a backend. Code that computes a number of threads, or passes on the number that
 * came with 'auto', leaves it out for others: `wasm` refuses several, since they can only be a user's mistake.
 */
export const mayHaveThreads = (name: string = AUTO): boolean => name === AUTO || name === NATIVE;

/**
 * Chooses a backend.
 * @param name a backend's name, or 'auto' for the first that is available and not slow; with a kernel, 'auto' selects `native`.
 * @param device the options of the device whose availability is checked.
 * @throws BackendError `backend_unavailable` that lists the backends tried.
 */
function* chooseFrom(
  backends: readonly Backend[],
  name: string,
  kernel: string | null,
  device?: DeviceOptions,
): EngineCalls<Choice> {
  const requested = name === AUTO && kernel !== null ? NATIVE : name;
  const tried: Availability[] = [];
  for (const backend of backends) {
    if (requested !== AUTO && backend.name !== requested) continue;
    const availability = yield* resultOf(backend.availability(device));
    const isSlow = requested === AUTO && availability.software === true;
    if (availability.available && !isSlow) {
      const isFallback = tried.length > 0 && backend.name === REFERENCE;
      return { backend, reason: explain(requested, tried), isFallback };
    }
    tried.push(isSlow ? { ...availability, reason: SOFTWARE } : availability);
  }
  throw new BackendError(
    'backend_unavailable',
    `Expected an available backend, got ${JSON.stringify(requested)}. Tried: ${describeTried(tried)}.`,
  );
}

const describeTried = (tried: readonly Availability[]): string =>
  tried.map(({ name, reason }) => `${name} (${reason})`).join('; ');

function explain(requested: string, tried: readonly Availability[]): string {
  if (requested !== AUTO) return 'requested by name';
  return tried.length === 0
    ? 'the fastest available'
    : `the fastest available; tried before it: ${describeTried(tried)}`;
}

/** Lists backends in priority order, each with its kernels as `backend/kernel`. */
export function availabilities(backends: readonly SyncBackend[]): Availability[] {
  return backends.flatMap((backend) => [backend.availability(), ...kernelsOf(backend)]);
}

/** Does the same as `availabilities` for backends that may return promises. */
export async function asyncAvailabilities(backends: readonly Backend[]): Promise<Availability[]> {
  const lists = backends.map(async (backend) => [await backend.availability(), ...kernelsOf(backend)]);
  return (await Promise.all(lists)).flat();
}

const kernelsOf = (backend: Backend): Availability[] =>
  backend.kernels().map((kernel) => ({ ...kernel, name: `${backend.name}/${kernel.name}` }));
