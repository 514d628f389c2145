/** What Node can compute with, and the choice among it. */
import type { Availability, Backend } from './backend.js';
import { type Choice, checkBackend, chooseFrom, listed, listedAsync } from './choice.js';
import { ASYNC_BACKENDS, BACKENDS, NODE } from './node.js';

/** What `createVecEnv` can use here, in priority order: each backend, then its kernels as `backend/kernel`. */
export const listBackends = (): Availability[] => listed(BACKENDS);

/** What `createAsyncVecEnv` can use here, in priority order. Asking may start a device's driver. */
export const listAsyncBackends = (): Promise<Availability[]> => listedAsync(ASYNC_BACKENDS);

/**
 * @param name a backend's name, or 'auto' for the first that is available; a kernel asked for makes that `native`.
 * @throws InputError `unknown_name`; BackendError `backend_unavailable` that lists what was tried.
 */
export const chooseBackend = (name: string, kernel: string | null): Choice<Backend> =>
  chooseFrom(BACKENDS, checkBackend(NODE, 'backends', name), kernel);
