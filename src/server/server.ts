/** Starts and stops a server. */
import type { AddressInfo, Server } from 'node:net';
import { buildServer, type MetricsHost, type ServerParts } from './build-server.js';
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
 * @internal Starts a server. @param host of the metrics, for a server of several processes.
 * @throws InputError for an invalid option; BackendError as `createVecEnv`; the system's error if it cannot listen on
 *   the address. After an error nothing stays open.
 */
export async function startServer(options: ServeOptions = {}, host?: MetricsHost): Promise<RunningServer> {
  const parts = buildServer(toServeSettings(options), host);
  const port = await listen(parts.server, parts.settings).catch(async (error) => {
    await shutDown(parts, 0);
    throw error;
  });
  return runningServer({ ...parts.settings, port }, (graceMs = GRACE_MS) => shutDown(parts, graceMs));
}

/** @internal Returns a server that listens. @param close is called once. */
export function runningServer(
  { host, port }: Pick<Settings, 'host' | 'port'>,
  close: RunningServer['close'],
): RunningServer {
  let closing: Promise<number> | undefined;
  const once = (graceMs?: number): Promise<number> => {
    closing ??= close(graceMs);
    return closing;
  };
  // An IPv6 address has brackets in a URL.
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, port, close: once };
}

/** @internal Listens on an address. @returns the port. @throws the system's error. */
export function listen(server: Server, { host, port }: Settings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node expects an IPv6 address without brackets.
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
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
