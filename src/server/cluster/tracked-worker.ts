/** One worker of a cluster as the primary sees it: its process, its part of the quotas, and its sockets. */
import type { Worker } from 'node:cluster';
import type { LocalQuota } from '../quota.js';
import { HandedConnections } from './handed-connections.js';
import type { QuotaName, ToPrimary, ToWorker } from './messages.js';
import { type SocketHandle, WorkerSockets } from './worker-sockets.js';

/** The quotas of the whole server: for sessions, and for environments of vector environments. */
export type Quotas = Readonly<Record<QuotaName, LocalQuota>>;

/** The messages that concern the whole cluster: all except those about quotas and sockets. */
export type ClusterMessage = Exclude<
  ToPrimary,
  { type: 'take' | 'give back' | 'socket opened' | 'socket closed' }
>;

export class TrackedWorker {
  readonly clusterWorker: Worker;
  readonly #quotas: Quotas;
  readonly #sockets = new WorkerSockets();
  readonly #handed: HandedConnections;
  readonly #taken: Record<QuotaName, number> = { sessions: 0, envs: 0 };
  /** Whether the worker accepts connections. */
  isReady = false;

  /** @param onClusterMessage receives the messages that concern the whole cluster. */
  constructor(
    worker: Worker,
    quotas: Quotas,
    onClusterMessage: (worker: TrackedWorker, message: ClusterMessage) => void,
  ) {
    this.clusterWorker = worker;
    this.#quotas = quotas;
    this.#handed = new HandedConnections(worker.process);
    worker.on('message', (message: ToPrimary, handle: unknown) => {
      if (!this.#answer(message, handle as SocketHandle | undefined))
        onClusterMessage(this, message as ClusterMessage);
    });
    // Sending to a worker that has ended fails; ignore it.
    worker.on('error', () => {});
  }

  /** The number of open WebSockets. */
  get sockets(): number {
    return this.#sockets.size;
  }

  send(message: ToWorker): void {
    if (this.clusterWorker.isConnected()) this.clusterWorker.send(message, () => {});
  }

  /**
   * Cleans up after a worker has ended: gives back its parts of the quotas, closes connections that it had not accepted, and
   * sends a close frame to the clients of its WebSockets.
   */
  release(): void {
    this.isReady = false;
    for (const [name, count] of Object.entries(this.#taken)) this.#quotas[name as QuotaName].giveBack(count);
    this.#handed.closeAll();
    this.#sockets.sendCloseFrames();
  }

  /** Handles a message about quotas or sockets. @returns false for a message that concerns the whole cluster. */
  #answer(message: ToPrimary, handle: SocketHandle | undefined): boolean {
    if (message.type === 'take') {
      const { id, quota, count } = message;
      const grant = this.#quotas[quota].take(count);
      if (grant.granted) this.#taken[quota] += count;
      this.send({ type: 'granted', id, grant });
    } else if (message.type === 'give back') {
      this.#taken[message.quota] -= message.count;
      this.#quotas[message.quota].giveBack(message.count);
    } else if (message.type === 'socket opened') this.#sockets.open(message.id, handle);
    else if (message.type === 'socket closed') this.#sockets.close(message.id);
    else return false;
    return true;
  }
}
