/** The backends in priority order, and the choice among them. */
import { BackendError, InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import type { Availability, Backend } from './backend.js';
import { BACKENDS } from './node.js';

/** What can be used here, in priority order: each backend, then its kernels as `backend/kernel`. */
export function listBackends(): Availability[] {
  return BACKENDS.flatMap((backend) => [
    backend.availability(),
    ...backend.kernels().map((kernel) => ({ ...kernel, name: `${backend.name}/${kernel.name}` })),
  ]);
}

export interface Choice {
  readonly backend: Backend;
  /** Why this one: for `auto`, what was tried before it. */
  readonly reason: string;
}

/**
 * @param name a backend's name, or 'auto' for the first that is available; a kernel asked for makes that `native`.
 * @throws InputError `unknown_name`; BackendError `backend_unavailable` that lists what was tried.
 */
export function chooseBackend(name: string, kernel: string | null): Choice {
  const names = BACKENDS.map((backend) => backend.name);
  if (name !== 'auto' && !names.includes(name)) {
    throw new InputError(
      'unknown_name',
      `Expected backend to be one of auto, ${names.join(', ')}, got ${JSON.stringify(name)}.` +
        didYouMean(name, ['auto', ...names]),
    );
  }
  const wanted = name === 'auto' && kernel !== null ? 'native' : name;
  const tried: Availability[] = [];
  for (const backend of BACKENDS.filter((candidate) => wanted === 'auto' || candidate.name === wanted)) {
    const availability = backend.availability();
    if (availability.available) return { backend, reason: explain(wanted, tried) };
    tried.push(availability);
  }
  throw new BackendError(
    'backend_unavailable',
    `Expected backend ${JSON.stringify(wanted)} to be available, got none. Tried: ${list(tried)}`,
  );
}

const list = (tried: readonly Availability[]): string =>
  tried.map(({ name, reason }) => `${name} (${reason})`).join('; ');

function explain(wanted: string, tried: readonly Availability[]): string {
  if (wanted !== 'auto') return 'asked for';
  return tried.length === 0
    ? 'the fastest available'
    : `the fastest available; tried before it: ${list(tried)}`;
}
