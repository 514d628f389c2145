/** Starts a server, with the optional packages that servers need. */
import { load, PACKAGES } from '../shared/optional-packages.js';
import type { RunningServer } from './server.js';
import type { ServeOptions } from './server-options.js';

/**
 * Starts a server: OpenEnv's protocol, batch requests and vector environments, as `rhythm-vec serve` does.
 * @throws LibraryError `library_missing` with the command that installs its packages; InputError for an invalid option;
 *   BackendError as `createVecEnv`; the system's error if it cannot listen on the address. An error leaves nothing open.
 */
export async function openServer(options: ServeOptions = {}): Promise<RunningServer> {
  const { startServer } = await load('servers', PACKAGES.servers, () => import('./server.js'));
  return startServer(options);
}

/**
 * Starts a server of several worker processes, as `rhythm-vec serve --workers` does. Start at most one in a process.
 * @param workers 1 to 256, at most the number of processor cores.
 * @throws as `openServer`, and InputError for more workers than processor cores.
 */
export async function openCluster(options: ServeOptions, workers: number): Promise<RunningServer> {
  const { startCluster } = await load('servers', PACKAGES.servers, () => import('./cluster.js'));
  return startCluster(options, workers);
}
