/** The messages between the primary process of a cluster and its workers. */
import type { MetricObject } from 'prom-client';
import type { Grant } from '../quota.js';
import type { ServeOptions } from '../server-options.js';

/** The names of the quotas that the workers of a server share. */
export type QuotaName = 'sessions' | 'envs';

/** An error as a message. */
export interface SentError {
  readonly message: string;
  /** The code of a RhythmError, or of a system error, which also has `syscall`. */
  readonly code?: string;
  readonly syscall?: string;
  readonly stack?: string;
}

/** A message of a worker to the primary process. */
export type ToPrimary =
  /** The worker listens for messages. */
  | { readonly type: 'loaded' }
  /** The worker accepts connections. */
  | { readonly type: 'ready' }
  /** The worker could not do what a message asked, such as 'start'. */
  | { readonly type: 'failed'; readonly error: SentError }
  /** Asks for `count` of a quota. The primary answers with 'granted' and the same id. */
  | { readonly type: 'take'; readonly id: number; readonly quota: QuotaName; readonly count: number }
  | { readonly type: 'give back'; readonly quota: QuotaName; readonly count: number }
  /** Sent together with the connection's handle. */
  | { readonly type: 'socket opened'; readonly id: number }
  | { readonly type: 'socket closed'; readonly id: number }
  /** Asks for the metrics of the whole server. The primary answers with 'metrics' and the same id. */
  | { readonly type: 'get metrics'; readonly id: number }
  /** The answer to 'get own metrics'. */
  | { readonly type: 'own metrics'; readonly id: number; readonly metrics: readonly MetricObject[] }
  /** All requests have ended or were cut off. `cutOff` is the number of connections that were cut off. */
  | { readonly type: 'stopped'; readonly cutOff: number };

/** A message of the primary process to a worker. */
export type ToWorker =
  | { readonly type: 'start'; readonly options: ServeOptions }
  | { readonly type: 'granted'; readonly id: number; readonly grant: Grant }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'get own metrics'; readonly id: number }
  | { readonly type: 'stop'; readonly graceMs: number };

/** Requests that wait for an answer, by id. */
export class Pending<Answer> {
  readonly #resolves = new Map<number, (answer: Answer) => void>();
  #next = 0;

  /** Sends a request. @param send sends it with its id. @returns a promise of the answer. */
  ask(send: (id: number) => void): Promise<Answer> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#resolves.set(id, resolve);
      send(id);
    });
  }

  /** Settles the promise of a request. */
  answer(id: number, answer: Answer): void {
    this.#resolves.get(id)?.(answer);
    this.#resolves.delete(id);
  }
}
