/** Limits the total number of environments in all vector environments, and so their memory. */

import type { Quota } from '../quota.js';

/** The error for a request beyond the limit. */
export class NoEnvsError extends Error {
  readonly taken: number;
  readonly capacity: number;
  constructor(requested: number, taken: number, capacity: number) {
    super(
      `Expected at most ${capacity - taken} environments, got ${requested}: ${taken} of ${capacity} are in use. ` +
        'Create fewer, close others, or raise --vec-envs.',
    );
    this.taken = taken;
    this.capacity = capacity;
  }
}

/** Counts the environments of this process, and takes them from the server's quota. */
export class EnvQuota {
  readonly #quota: Quota;
  #vecEnvs = 0;
  #environments = 0;

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  /** The number of open vector environments. */
  get vecEnvs(): number {
    return this.#vecEnvs;
  }

  /** The number of environments in all open vector environments. */
  get environments(): number {
    return this.#environments;
  }

  /** Takes the environments of a new vector environment from the quota. @throws NoEnvsError if too few are free. */
  async take(numEnvs: number): Promise<void> {
    const { granted, taken } = await this.#quota.take(numEnvs);
    if (!granted) throw new NoEnvsError(numEnvs, taken, this.#quota.capacity);
    this.#vecEnvs++;
    this.#environments += numEnvs;
  }

  /** Gives the environments of a closed vector environment back. */
  giveBack(numEnvs: number): void {
    this.#quota.giveBack(numEnvs);
    this.#vecEnvs--;
    this.#environments -= numEnvs;
  }
}
