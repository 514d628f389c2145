/** A queue of calls, which run in the order in which they were made. */

const ignore = (): void => {};

export class CallQueue {
  /** Resolves when the last call has settled. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Adds a call, which begins when all earlier calls have settled, with or without errors.
   * @param beside another queue that the call joins too.
   */
  add<T>(body: () => T | Promise<T>, beside?: CallQueue): Promise<T> {
    const before = beside === undefined ? this.#last : Promise.all([this.#last, beside.#last]);
    const call = before.then(body);
    this.#last = call.then(ignore, ignore);
    if (beside !== undefined) beside.#last = this.#last;
    return call;
  }
}
