/**
 * The parts of a server that its workers (processes) share: quotas, metrics and sockets. `hostWithoutWorkers` returns them for
 * a server in one process.
 */
import type { Duplex } from 'node:stream';
import { LocalQuota, type Quota } from './quota.js';
import type { Settings } from './server-options.js';

/** The metrics of one process. Uses no types of prom-client, which the package's declarations must not need. */
export interface OwnMetrics {
  text(): Promise<string>;
  objects(): Promise<readonly object[]>;
}

export interface ServerHost {
  /** Limits the open sessions. */
  readonly sessions: Quota;
  /** Limits the environments of all vector environments together. */
  readonly envs: Quota;
  /** Returns the metrics of the whole server. */
  metricsText(own: OwnMetrics): Promise<string>;
  /** Called once with the metrics of this process. */
  onMetrics(own: OwnMetrics): void;
  /** Called with the connection of each WebSocket that opens. */
  onSocket(connection: Duplex): void;
}

/** Returns the host of a server without workers. */
export const hostWithoutWorkers = ({ capacity, vecEnvs }: Settings): ServerHost => ({
  sessions: new LocalQuota(capacity),
  envs: new LocalQuota(vecEnvs),
  metricsText: (own) => own.text(),
  onMetrics: () => {},
  onSocket: () => {},
});
