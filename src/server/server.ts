/** Starts and stops a server. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildServer, type ServerParts } from './build-server.js';
import { type ServeOptions, type Settings, toServeSettings } from './server-options.js';

/** A server that listens. */
export interface RunningServer {
  /** The server's address, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no more requests, finishes those in progress, and closes. Further calls return the same promise.
   * @param graceMs milliseconds after which unfinished requests are cut off. Default 1,500.
   */
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 1500;

/**
 * Starts a server.
 * @throws InputError for an invalid option; BackendError as `createVecEnv`; the system's error if it cannot listen on
 *   the address. Nothing is left open then.
 */
export async function startServer(options: ServeOptions = {}): Promise<RunningServer> {
  const parts = buildServer(toServeSettings(options));
  try {
    await listen(parts.server, parts.settings);
  } catch (error) {
    await shutDown(parts, 0);
    throw error;
  }
  const { port } = parts.server.address() as AddressInfo;
  const { host } = parts.settings;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`,
    port,
    close: (graceMs = GRACE_MS) => {
      closing ??= shutDown(parts, graceMs);
      return closing;
    },
  };
}

function listen(server: Server, { host, port }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Milliseconds between two checks for idle connections during a shutdown: clients keep connections open for seconds. */
const CHECK_MS = 20;

async function shutDown({ server, sockets, free }: ServerParts, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const check = setInterval(() => server.closeIdleConnections(), CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await Promise.all(Object.values(sockets).map((each) => each.close(graceMs)));
  await closed;
  clearInterval(check);
  clearTimeout(cut);
  free();
}
