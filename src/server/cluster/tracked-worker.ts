/** One worker of a cluster as the primary sees it: its process, its part of the quotas, and its sockets. */
import type { Worker } from 'node:cluster';
import type { LocalQuota } from '../quota.js';
import { HandedConnections } from './handed-connections.js';
import type { QuotaName, ToPrimary, ToWorker } from './messages.js';
import { SessionsOfWorker, type SocketHandle } from './sessions-of-worker.js';

export type Quotas = Readonly<Record<QuotaName, LocalQuota>>;

/** What a worker asks of the primary, other than parts of quotas. */
export type Asked = Exclude<ToPrimary, { type: 'take' | 'give back' | 'socket opened' | 'socket closed' }>;

export class TrackedWorker {
  readonly clusterWorker: Worker;
  readonly #quotas: Quotas;
  readonly #sessions = new SessionsOfWorker();
  readonly #handed: HandedConnections;
  readonly #taken: Record<QuotaName, number> = { sessions: 0, envs: 0 };
  /** Whether it accepts connections. */
  isReady = false;

  /** @param onAsked receives the messages that concern the whole cluster. */
  constructor(worker: Worker, quotas: Quotas, onAsked: (worker: TrackedWorker, message: Asked) => void) {
    this.clusterWorker = worker;
    this.#quotas = quotas;
    this.#handed = new HandedConnections(worker.process);
    worker.on('message', (message: ToPrimary, handle: unknown) => {
      if (!this.#answer(message, handle as SocketHandle | undefined)) onAsked(this, message as Asked);
    });
    // A worker that has ended cannot be told anything.
    worker.on('error', () => {});
  }

  /** The number of open WebSockets. */
  get sockets(): number {
    return this.#sessions.size;
  }

  send(message: ToWorker): void {
    if (this.clusterWorker.isConnected()) this.clusterWorker.send(message, () => {});
  }

  /** Gives back what an ended worker had taken, closes the connections that it had not taken yet, and tells the clients of its sockets. */
  release(): void {
    this.isReady = false;
    for (const [name, count] of Object.entries(this.#taken)) this.#quotas[name as QuotaName].giveBack(count);
    this.#handed.closeAll();
    this.#sessions.tellAll();
  }

  /** @returns false for a message that concerns the whole cluster. */
  #answer(message: ToPrimary, handle: SocketHandle | undefined): boolean {
    if (message.type === 'take') {
      const { id, quota, count } = message;
      const grant = this.#quotas[quota].take(count);
      if (grant.granted) this.#taken[quota] += count;
      this.send({ type: 'granted', id, grant });
    } else if (message.type === 'give back') {
      this.#taken[message.quota] -= message.count;
      this.#quotas[message.quota].giveBack(message.count);
    } else if (message.type === 'socket opened') this.#sessions.open(message.id, handle);
    else if (message.type === 'socket closed') this.#sessions.close(message.id);
    else return false;
    return true;
  }
}
