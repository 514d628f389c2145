/** The choice among a platform's backends, and what they say of themselves. */
import { BackendError, InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { checkString } from '../validate/values.js';
import type { AsyncBackend } from './async-backend.js';
import type { Availability, Backend } from './backend.js';
import type { Platform } from './platform.js';

/** Whichever can be used first. */
const AUTO = 'auto';
/** The one that has kernels to choose from. */
const NATIVE = 'native';

export interface Choice<Kind> {
  readonly backend: Kind;
  /** Why this one: for `auto`, what was tried before it. */
  readonly reason: string;
}

const namesOf = (backends: readonly { readonly name: string }[]): string[] =>
  backends.map(({ name }) => name);

/**
 * The name of a backend that there is, or 'auto', where it is left out.
 * @param face which environment is to use it. @throws InputError `wrong_type` or `unknown_name`.
 */
export function checkBackend(platform: Platform, face: keyof Platform, asked: string = AUTO): string {
  const name = checkString('backend', asked);
  const known = [AUTO, ...namesOf(platform[face])];
  if (known.includes(name)) return name;
  const elsewhere = namesOf(platform.asyncBackends).includes(name);
  throw new InputError(
    'unknown_name',
    `Expected backend to be one of ${known.join(', ')}, got ${JSON.stringify(name)}` +
      (elsewhere
        ? ', whose calls return promises. Use createAsyncVecEnv for it.'
        : `.${didYouMean(name, known)}`),
  );
}

/** Whether a backend has kernels to choose from. */
export const hasKernels = (name: string): boolean => name === NATIVE;

/** Whether a kernel can be asked for with a backend, or with 'auto', which is `native` then. */
export const takesKernel = (backends: readonly { readonly name: string }[], name: string): boolean =>
  hasKernels(name) || (name === AUTO && namesOf(backends).some(hasKernels));

/**
 * @param name a backend's name, or 'auto' for the first that is available; a kernel asked for makes that `native`.
 * @throws BackendError `backend_unavailable` that lists what was tried.
 */
export function chooseFrom(
  backends: readonly Backend[],
  name: string,
  kernel: string | null,
): Choice<Backend> {
  const wanted = wantedWith(name, kernel);
  const tried: Availability[] = [];
  for (const backend of candidates(backends, wanted)) {
    const availability = backend.availability();
    if (availability.available) return { backend, reason: explain(wanted, tried) };
    tried.push(availability);
  }
  throw unavailable(wanted, tried);
}

/** The same where whether a backend can be used is a promise: none is asked after the first that can. */
export async function chooseAsyncFrom(
  backends: readonly AsyncBackend[],
  name: string,
  kernel: string | null,
): Promise<Choice<AsyncBackend>> {
  const wanted = wantedWith(name, kernel);
  const tried: Availability[] = [];
  for (const backend of candidates(backends, wanted)) {
    const availability = await backend.availability();
    if (availability.available) return { backend, reason: explain(wanted, tried) };
    tried.push(availability);
  }
  throw unavailable(wanted, tried);
}

const wantedWith = (name: string, kernel: string | null): string =>
  name === AUTO && kernel !== null ? NATIVE : name;

const candidates = <Kind extends { readonly name: string }>(backends: readonly Kind[], wanted: string) =>
  backends.filter(({ name }) => wanted === AUTO || name === wanted);

function unavailable(wanted: string, tried: readonly Availability[]): BackendError {
  return new BackendError(
    'backend_unavailable',
    `Expected backend ${JSON.stringify(wanted)} to be available, got none. Tried: ${list(tried)}.`,
  );
}

const list = (tried: readonly Availability[]): string =>
  tried.map(({ name, reason }) => `${name} (${reason})`).join('; ');

function explain(wanted: string, tried: readonly Availability[]): string {
  if (wanted !== AUTO) return 'asked for';
  return tried.length === 0
    ? 'the fastest available'
    : `the fastest available; tried before it: ${list(tried)}`;
}

/** What can be used, in priority order: each backend, then its kernels as `backend/kernel`. */
export function listed(backends: readonly Backend[]): Availability[] {
  return backends.flatMap((backend) => [backend.availability(), ...kernelsOf(backend)]);
}

/** The same of those whose availability is a promise. */
export async function listedAsync(backends: readonly AsyncBackend[]): Promise<Availability[]> {
  const lists = backends.map(async (backend) => [await backend.availability(), ...kernelsOf(backend)]);
  return (await Promise.all(lists)).flat();
}

const kernelsOf = (backend: Pick<Backend, 'name' | 'kernels'>): Availability[] =>
  backend.kernels().map((kernel) => ({ ...kernel, name: `${backend.name}/${kernel.name}` }));
