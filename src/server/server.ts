/** Starts and stops a server. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildServer, type ServerParts } from './build-server.js';
import type { ServerHost } from './server-host.js';
import { type ServeOptions, type Settings, toServeSettings } from './server-options.js';

/** A server that listens. */
export interface RunningServer {
  /** The server's address, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no more connections, finishes the requests that wait or are in progress, and closes. Further calls return the
   * same promise.
   * @param graceMs milliseconds after which unfinished requests are cut off. Default 1,500; for a server of several workers
   *   2,000.
   * @returns the number of connections that were cut off.
   */
  close(graceMs?: number): Promise<number>;
}

/** The default of `graceMs`, chosen by hand: more lets longer requests finish, less ends the server sooner. */
const GRACE_MS = 1500;

/**
 * @internal Starts a server. The types of the package lack those of Node, which the host uses.
 * @throws InputError for an invalid option; BackendError as `createVecEnv`; the system's error if it cannot listen on
 *   the address. After an error nothing stays open.
 */
export async function startServer(options: ServeOptions = {}, host?: ServerHost): Promise<RunningServer> {
  const parts = buildServer(toServeSettings(options), host);
  try {
    await listen(parts.server, parts.settings);
  } catch (error) {
    await shutDown(parts, 0);
    throw error;
  }
  const { port } = parts.server.address() as AddressInfo;
  let closing: Promise<number> | undefined;
  return {
    url: urlOf(parts.settings.host, port),
    port,
    close: (graceMs = GRACE_MS) => {
      closing ??= shutDown(parts, graceMs);
      return closing;
    },
  };
}

/** Returns the URL of a server, with brackets around an IPv6 address. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;

function listen(server: Server, { host, port }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node expects an IPv6 address without brackets.
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Milliseconds between two checks for idle connections during a shutdown. Clients would keep idle connections open for seconds.
 */
const CHECK_MS = 20;

/** Stops a server. @returns the number of connections that were cut off after `graceMs`. */
async function shutDown({ server, sockets, drain, free }: ServerParts, graceMs: number): Promise<number> {
  drain();
  const closed = new Promise((resolve) => server.close(resolve));
  const check = setInterval(() => server.closeIdleConnections(), CHECK_MS);
  let cutOff = 0;
  const cut = setTimeout(() => {
    server.getConnections((_, count) => {
      cutOff = count;
      server.closeAllConnections();
    });
  }, graceMs);
  await Promise.all(Object.values(sockets).map((each) => each.close(graceMs)));
  await closed;
  clearInterval(check);
  clearTimeout(cut);
  free();
  return cutOff;
}
