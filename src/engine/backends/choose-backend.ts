/** Chooses among a platform's backends, and lists them. */
import { BackendError, InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { checkString } from '../../shared/values.js';
import { type EngineCalls, resultOf } from '../engine-calls.js';
import type { Availability, Backend, SyncBackend } from './backend.js';
import type { DeviceOptions } from './device-options.js';
import type { Platform } from './platform.js';

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
export function* chooseFrom(
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
