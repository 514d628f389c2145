/** Quotas of a server: for sessions, and for environments of vector environments. Several processes may share a quota. */

/** The answer to a request for part of a quota. */
export interface Grant {
  readonly granted: boolean;
  /** The amount in use before the request, by all processes of the server. */
  readonly taken: number;
}

/** A limited amount, such as a number of sessions, of which callers take parts. */
export interface Quota {
  /** The maximum amount in use. */
  readonly capacity: number;
  /** Takes `count` of the quota if so many are free, else none. */
  take(count: number): Grant | Promise<Grant>;
  /** Frees `count` of what `take` has granted. */
  giveBack(count: number): void;
}

/** A quota that this process counts. */
export class LocalQuota implements Quota {
  readonly capacity: number;
  #taken = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  take(count: number): Grant {
    const taken = this.#taken;
    const granted = taken + count <= this.capacity;
    if (granted) this.#taken += count;
    return { granted, taken };
  }

  giveBack(count: number): void {
    this.#taken -= count;
  }
}
