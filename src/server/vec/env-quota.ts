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

/** Counts this process' environments, and takes them from the server's quota. */
export class EnvQuota {
  readonly #quota: Quota;
  #envs = 0;
  #total = 0;

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  get envs(): number {
    return this.#envs;
  }

  get total(): number {
    return this.#total;
  }

  /** @throws NoEnvsError. */
  async take(numEnvs: number): Promise<void> {
    const { granted, taken } = await this.#quota.take(numEnvs);
    if (!granted) throw new NoEnvsError(numEnvs, taken, this.#quota.capacity);
    this.#envs++;
    this.#total += numEnvs;
  }

  giveBack(numEnvs: number): void {
    this.#quota.giveBack(numEnvs);
    this.#envs--;
    this.#total -= numEnvs;
  }
}
