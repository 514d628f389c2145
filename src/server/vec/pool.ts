/** Slots of all vector environments together: no client takes all memory. */

/** As many slots as the server has are taken. */
export class NoSlotsError extends Error {
  readonly taken: number;
  readonly capacity: number;
  constructor(asked: number, taken: number, capacity: number) {
    super(
      `Expected at most ${capacity - taken} slots, got ${asked}: ${taken} of ${capacity} are taken. ` +
        'Ask for fewer, close others, or raise --vec-slots.',
    );
    this.taken = taken;
    this.capacity = capacity;
  }
}

export class VecPool {
  readonly #capacity: number;
  #envs = 0;
  #slots = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get envs(): number {
    return this.#envs;
  }

  get slots(): number {
    return this.#slots;
  }

  /** @throws NoSlotsError. */
  take(slots: number): void {
    if (this.#slots + slots > this.#capacity) throw new NoSlotsError(slots, this.#slots, this.#capacity);
    this.#envs++;
    this.#slots += slots;
  }

  giveBack(slots: number): void {
    this.#envs--;
    this.#slots -= slots;
  }
}
