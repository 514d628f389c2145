/**
 * Admits a limited number of requests at a time. The others wait: each client has a queue of its own, and the clients take
 * turns, so that a client with many requests does not block the others.
 */
import { sentenceOf } from '../shared/errors.js';
import { CLOSES, StatusError } from './protocol/errors.js';

/** The error for a request that cannot begin. The client may send it again after `retryAfter` seconds. */
export class BusyError extends StatusError {
  /** @param retryAfter the value of the header Retry-After, in seconds. */
  constructor(expected: string, got: string, remedy: string, retryAfter: number) {
    const headers = { ...CLOSES, 'retry-after': String(retryAfter) };
    super(503, sentenceOf({ expected, got, remedy }), headers);
  }
}

export interface FairQueueLimits {
  /** The maximum number of requests at a time. */
  readonly working: number;
  /** The maximum number of waiting requests. */
  readonly waiting: number;
  /** The maximum wait in milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly client: string;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/** The minimum and maximum of Retry-After, in whole seconds. The maximum is chosen by hand. */
const [MIN_RETRY, MAX_RETRY] = [1, 60];
/**
 * The weight of the latest interval in the moving average of the time between the ends of successive requests. Chosen by hand:
 * with a larger weight the average follows changes faster, and varies more.
 */
const WEIGHT = 0.1;

/** Admits requests in turn by client. */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** What waits, for errors. */
  readonly #what: string;
  /** By client, in the order of the clients' next turns. No queue is empty. */
  readonly #queues = new Map<string, Set<Waiting>>();
  /** The number of requests in progress, and of those that wait. */
  working = 0;
  waiting = 0;
  /** Whether new requests are refused. */
  draining = false;
  /**
   * The moving average of the milliseconds between the ends of successive requests, while others wait; null before the first.
   */
  #meanMs: number | null = null;
  /** The time when the last request ended, or the first one began to wait, in milliseconds of `performance.now()`. */
  #endedAt = 0;

  /** @param what waits, for errors. */
  constructor(limits: FairQueueLimits, what = 'requests of /v1') {
    this.#limits = limits;
    this.#what = what;
  }

  /** Checks that the queue admits new requests. @throws BusyError if it is full or draining. */
  checkOpen(): void {
    if (this.draining) {
      const [expected, got] = ['a server that accepts requests', 'a server that is shutting down'];
      throw new BusyError(expected, got, 'Send the request to another server.', MIN_RETRY);
    }
    this.#checkFull();
  }

  #checkFull(): void {
    const { working, waiting } = this.#limits;
    if (this.working < working || this.waiting < waiting) return;
    throw this.#busy(
      `fewer than ${working + waiting} ${this.#what}`,
      `${working} in progress and ${waiting} that wait`,
      'Try again after the time in Retry-After.',
    );
  }

  /**
   * Waits until a request may begin, also while the queue drains. `leave` must be called when it ends.
   * @param client the client's name. @param signal aborted when the client disconnects. The request then leaves the queue.
   * @throws BusyError if the queue is full, or if the wait was too long; the signal's reason.
   */
  async enter(client: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#checkFull();
    if (this.working >= this.#limits.working) await this.#wait(client, signal);
    else this.working++;
  }

  /** Ends a request, and admits the next one. */
  leave(): void {
    const now = performance.now();
    // While no request waits, the time since the last end depends on the clients, not on the server.
    if (this.waiting > 0) this.#addInterval(now - this.#endedAt);
    this.#endedAt = now;
    this.working--;
    const next = this.#next();
    if (next === undefined) return;
    this.working++;
    next.admit();
  }

  /** Updates the moving average of the time between the ends of successive requests. */
  #addInterval(ms: number): void {
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + WEIGHT * (ms - this.#meanMs);
  }

  /** Refuses new requests: `checkOpen` throws. */
  drain(): void {
    this.draining = true;
  }

  #wait(client: string, signal: AbortSignal): Promise<void> {
    if (this.waiting === 0) this.#endedAt = performance.now();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const entry: Waiting = {
        client,
        admit: () => {
          end();
          resolve();
        },
        refuse: (error) => {
          end();
          this.#remove(entry);
          reject(error);
        },
      };
      const abort = (): void => entry.refuse(signal.reason);
      const timer = setTimeout(() => entry.refuse(this.#tooSlow()), this.#limits.waitMs);
      signal.addEventListener('abort', abort);
      this.#add(entry);
    });
  }

  #tooSlow(): BusyError {
    const { waitMs, working } = this.#limits;
    return this.#busy(
      `the request to begin within ${waitMs} ms`,
      `${working} other ${this.#what} that are in progress`,
      'Try again after the time in Retry-After, or raise --batch-wait.',
    );
  }

  #busy(expected: string, got: string, remedy: string): BusyError {
    return new BusyError(expected, got, remedy, this.#retryAfter());
  }

  #add(entry: Waiting): void {
    const queue = this.#queues.get(entry.client);
    if (queue === undefined) this.#queues.set(entry.client, new Set([entry]));
    else queue.add(entry);
    this.waiting++;
  }

  #remove(entry: Waiting): void {
    const queue = this.#queues.get(entry.client)!;
    queue.delete(entry);
    if (queue.size === 0) this.#queues.delete(entry.client);
    this.waiting--;
  }

  /**
   * Takes the first request of the client whose turn it is. Before this client's next turn, every other waiting client has a
   * turn.
   */
  #next(): Waiting | undefined {
    const [first] = this.#queues;
    if (first === undefined) return undefined;
    const [client, queue] = first;
    const [entry] = queue;
    this.#remove(entry);
    if (queue.size > 0) {
      this.#queues.delete(client);
      this.#queues.set(client, queue);
    }
    return entry;
  }

  /** Estimates the seconds until the requests that wait now have begun: each end of a request admits one. */
  #retryAfter(): number {
    const seconds = Math.ceil((this.waiting * (this.#meanMs ?? 0)) / 1000);
    return Math.min(Math.max(seconds, MIN_RETRY), MAX_RETRY);
  }
}
