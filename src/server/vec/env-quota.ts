/** Limits the total number of environments in all vector environments, and so their memory. */

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

export class EnvQuota {
  readonly #capacity: number;
  #envs = 0;
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get envs(): number {
    return this.#envs;
  }

  get total(): number {
    return this.#total;
  }

  /** @throws NoEnvsError. */
  take(numEnvs: number): void {
    if (this.#total + numEnvs > this.#capacity) throw new NoEnvsError(numEnvs, this.#total, this.#capacity);
    this.#envs++;
    this.#total += numEnvs;
  }

  giveBack(numEnvs: number): void {
    this.#envs--;
    this.#total -= numEnvs;
  }
}
