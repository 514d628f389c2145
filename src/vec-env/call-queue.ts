/** Calls that take effect one after the other, in the order in which they were made. */

const ignore = (): void => {};

export class CallQueue {
  /** Settles, and never rejects, when the last call has. */
  #last: Promise<void> = Promise.resolve();

  /**
   * Does something once all that was called before is done, whether that succeeded or not.
   * @param beside a queue that it is a call of too.
   */
  add<T>(body: () => T | Promise<T>, beside?: CallQueue): Promise<T> {
    const before = beside === undefined ? this.#last : Promise.all([this.#last, beside.#last]);
    const call = before.then(body);
    this.#last = call.then(ignore, ignore);
    if (beside !== undefined) beside.#last = this.#last;
    return call;
  }
}
