/** A server that listens, until it is closed. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ServeOptions, type Settings, toServeSettings } from './options.js';
import { assemble, type Parts } from './parts.js';

export interface RunningServer {
  /** Where: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more requests, finishes those that came, and closes. Calling it again waits for the same.
   * @param graceMs after which what is not finished is cut off. Default 1,500.
   */
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 1500;

/**
 * Listens. @throws InputError for an option, BackendError as `createVecEnv`; the system's error if the address cannot be
 * listened on. Nothing is left open then.
 */
export async function openServer(options: ServeOptions = {}): Promise<RunningServer> {
  const parts = assemble(toServeSettings(options));
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

/** How often a connection that has become idle is looked for: clients keep theirs open for seconds. */
const LOOK_MS = 20;

async function shutDown({ server, sockets, free }: Parts, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const look = setInterval(() => server.closeIdleConnections(), LOOK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await Promise.all(Object.values(sockets).map((each) => each.close(graceMs)));
  await closed;
  clearInterval(look);
  clearTimeout(cut);
  free();
}
