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

/** Counts the environments of all vector environments. */
export class EnvQuota {
  readonly #capacity: number;
  /** The number of open vector environments, and of their environments. */
  vecEnvs = 0;
  environments = 0;

  /** @param capacity the maximum number of environments. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Takes the environments of a new vector environment. @throws NoEnvsError if too few are free. */
  take(numEnvs: number): void {
    if (this.environments + numEnvs > this.#capacity)
      throw new NoEnvsError(numEnvs, this.environments, this.#capacity);
    this.vecEnvs++;
    this.environments += numEnvs;
  }

  /** Gives the environments of a closed vector environment back. */
  giveBack(numEnvs: number): void {
    this.vecEnvs--;
    this.environments -= numEnvs;
  }
}
