/** A queue of calls, which run in the order in which they were made. */

const ignore = (): void => {};

/** The calls of one object, such as an `AsyncVecEnv`. */
export class CallQueue {
  /** Resolves when the last call has settled. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Adds a call, which begins when all earlier calls have settled, with or without errors.
   * @param other another queue to which the call is added too.
   */
  add<T>(body: () => T | Promise<T>, other?: CallQueue): Promise<T> {
    const earlier = other === undefined ? this.#last : Promise.all([this.#last, other.#last]);
    const call = earlier.then(body);
    this.#last = call.then(ignore, ignore);
    if (other !== undefined) other.#last = this.#last;
    return call;
  }
}
