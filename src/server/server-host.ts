/** What a server needs from around it: alone in its process, or as one of several workers. */
import type { Duplex } from 'node:stream';
import { LocalQuota, type Quota } from './quota.js';
import type { Settings } from './server-options.js';

/** The metrics of one process. Without types of prom-client, which the package's declarations must not need. */
export interface OwnMetrics {
  text(): Promise<string>;
  objects(): Promise<readonly object[]>;
}

export interface ServerHost {
  readonly sessions: Quota;
  /** Of the environments of vector environments. */
  readonly envs: Quota;
  /** Returns the metrics of the whole server. */
  metricsText(own: OwnMetrics): Promise<string>;
  /** Called once with the metrics of this process. */
  onMetrics(own: OwnMetrics): void;
  /** Called with the connection of each WebSocket that opens. */
  onSocket(connection: Duplex): void;
}

/** The host of a server that is alone. */
export const aloneHost = ({ capacity, vecEnvs }: Settings): ServerHost => ({
  sessions: new LocalQuota(capacity),
  envs: new LocalQuota(vecEnvs),
  metricsText: (own) => own.text(),
  onMetrics: () => {},
  onSocket: () => {},
});
