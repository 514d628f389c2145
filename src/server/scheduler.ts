/**
 * Divides the event loop and the memory between batch requests and sessions. Each turn of the loop runs one slice of one batch;
 * bodies that arrive, or wait until their batch begins, have limited memory.
 */
import { yieldTurn } from '../engine/engine-calls.js';
import { BusyError, FairQueue, type FairQueueLimits } from './fair-queue.js';

/**
 * The minimum size of a large body (in bytes) or answer (in characters). Chosen by hand: a larger size uses more memory at
 * once; a smaller size makes more requests wait for each other.
 */
export const LARGE = 2 ** 21;

/** The request that a batch answers. */
export interface BatchOrigin {
  /** The client's name in the queue. */
  readonly client: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Settles when the answer was sent, or the client has disconnected. */
  readonly finished: Promise<void>;
}

export class Scheduler {
  readonly #queue: FairQueue;
  readonly #bodies: BodyMemory;
  /** Settles when every call of `turn` so far has got its turn. */
  #last: Promise<void> = Promise.resolve();
  /** Settles when the last large work has ended. */
  #large: Promise<unknown> = Promise.resolve();

  /** @param bodyBytes that the bodies of batches take together before these batches begin; see BodyMemory. */
  constructor(limits: FairQueueLimits, bodyBytes: number) {
    this.#queue = new FairQueue(limits);
    this.#bodies = new BodyMemory(bodyBytes, limits);
  }

  /** The number of batches in progress. */
  get working(): number {
    return this.#queue.working;
  }

  /** The number of batches that wait to begin, or whose bodies wait for memory. */
  get waiting(): number {
    return this.#queue.waiting + this.#bodies.waiting;
  }

  /** Whether new batches are refused. */
  get draining(): boolean {
    return this.#queue.draining;
  }

  /** Refuses new batches. Batches whose bodies arrive, and those that wait or run, continue. */
  drain(): void {
    this.#queue.drain();
  }

  /**
   * Reads the body of a batch, and runs the batch when it may begin. A batch takes a place only after its body has arrived, so
   * a slow client delays no other. A session waits for at most one slice of a batch, even if many batches run.
   * @param read reads the body. It must await `hold` before it keeps bytes.
   * @param work computes the batch. It must await `turn` before each slice.
   * @param origin the request. Its client takes turns with the others. The batch counts as in progress until `finished`
   *   settles, when the answer's memory is free.
   * @throws BusyError if the batch may not begin; the signal's reason if the client disconnects; the errors of `read` and
   *   `work`.
   */
  async runBatch<Body, T>(
    origin: BatchOrigin,
    read: (hold: Hold) => Promise<Body>,
    work: (body: Body) => Promise<T>,
  ): Promise<T> {
    const { client, signal, finished } = origin;
    this.#queue.checkOpen();
    const { body, free } = await this.#bodies.read(client, signal, read);
    try {
      await this.#queue.enter(client, signal);
    } finally {
      free();
    }
    void finished.then(() => this.#queue.leave());
    return await work(body);
  }

  /**
   * Runs work that needs memory in proportion to a body or an answer. Large work runs one at a time, in order; small work
   * runs at once. Calls must not be nested.
   * @param length of the body or the answer.
   */
  runLarge<T>(length: number, work: () => Promise<T>): Promise<T> {
    if (length < LARGE) return work();
    const done = this.#large.then(work);
    // Drops the result, which would keep the memory of a body until the next large work.
    this.#large = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /**
   * Waits for a turn of the event loop that no other call of `turn` has.
   * @param signal of the waiting client. @throws the signal's reason.
   */
  async turn(signal?: AbortSignal): Promise<void> {
    this.#last = this.#last.then(yieldTurn);
    await this.#last;
    signal?.throwIfAborted();
  }
}

/** Waits until so many more bytes of a body may be kept. Rejects if the body is refused. */
export type Hold = (bytes: number) => Promise<void>;

/** The number of bytes of each body that do not count: Node has about as many in its own buffers anyway. */
const FREE_BYTES = 2 ** 16;
/**
 * Milliseconds in which a body beyond the limit must arrive if others wait for it. Chosen by hand: more allows slower clients,
 * and lets the others wait longer for a client that stalls.
 */
const BEYOND_MS = 20_000;

/** The bodies of a server take `limit` bytes together. Beyond that, one body at a time is read, and the clients take turns. */
export class BodyMemory {
  readonly #limit: number;
  /** Admits one body at a time beyond the limit. */
  readonly #beyond: FairQueue;
  #held = 0;

  /** @param limit in bytes. @param limits of the bodies that wait for memory. */
  constructor(limit: number, limits: FairQueueLimits) {
    this.#limit = limit;
    this.#beyond = new FairQueue({ ...limits, working: 1 }, 'large requests of /v1');
  }

  /** The number of bodies that wait for memory. */
  get waiting(): number {
    return this.#beyond.waiting;
  }

  /**
   * Reads a body. @param client as of `FairQueue.enter`. @param signal aborted when the client disconnects.
   * @param read reads the body. It must await `hold` before it keeps bytes.
   * @returns the body, and a function to call once when its memory no longer counts.
   * @throws BusyError if the body waits for memory too long, or arrives too slowly while others wait for memory; the errors of
   *   `read`.
   */
  async read<Body>(
    client: string,
    signal: AbortSignal,
    read: (hold: Hold) => Promise<Body>,
  ): Promise<{ readonly body: Body; readonly free: () => void }> {
    let [arrived, held, isBeyond, isFree] = [0, 0, false, false];
    let timer: NodeJS.Timeout | undefined;
    let refuse: (error: BusyError) => void;
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    const hold = async (bytes: number): Promise<void> => {
      arrived += bytes;
      const more = Math.max(arrived - FREE_BYTES - held, 0);
      if (more > 0 && !isBeyond && this.#held + more > this.#limit) {
        await this.#beyond.enter(client, signal);
        isBeyond = true;
        timer = setInterval(() => this.waiting > 0 && refuse(tooSlow()), BEYOND_MS);
      }
      // The body was refused, and its connection is not closed yet.
      if (isFree) throw tooSlow();
      held += more;
      this.#held += more;
    };
    const free = (): void => {
      isFree = true;
      this.#held -= held;
      if (isBeyond) this.#beyond.leave();
    };
    try {
      return { body: await Promise.race([read(hold), refused]), free };
    } catch (error) {
      free();
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
}

const tooSlow = (): BusyError =>
  new BusyError(
    `the rest of the body within ${BEYOND_MS / 1000} seconds, because other large requests of /v1 wait for memory`,
    'less',
    'Try again after the time in Retry-After, or send less at a time.',
    BEYOND_MS / 1000,
  );
