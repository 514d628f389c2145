/** Limits the memory of the bodies of batch requests that arrive, or wait until their batch begins. */
import { BusyError, FairQueue, type FairQueueLimits } from './fair-queue.js';

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
    `Expected the rest of the body within ${BEYOND_MS / 1000} seconds, because other large requests of /v1 wait for memory. ` +
      'Try again after the time in Retry-After, or send less at a time.',
    BEYOND_MS / 1000,
  );
