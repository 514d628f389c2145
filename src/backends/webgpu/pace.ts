/** How much work one submission takes, so that no watchdog ends it: learnt from how long the last ones took. */

/** Slots of the first submission, before anything is known: little even where a processor pretends to be a device. */
const FIRST = 4096;
/** Slots of a submission, at least: with fewer, what is measured is the submission and hardly its work. */
const LEAST = 64;
/** How much more than what was measured is dared at once. */
const GROWTH = 8;

export class Pace {
  readonly #maxMs: number;
  #slots = FIRST;
  #sure = false;

  /** @param maxMs how long a submission may take. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Slots of the next submission, of `left`; and whether how long it takes must be seen before the one after it. */
  next(left: number): { readonly slots: number; readonly measure: boolean } {
    const slots = Math.min(left, this.#slots);
    return { slots, measure: !this.#sure || slots < left };
  }

  took(slots: number, ms: number): void {
    const fitting = Math.floor((slots * this.#maxMs) / Math.max(ms, 1e-3) / 2);
    this.#sure = slots >= this.#slots || this.#sure;
    this.#slots = Math.max(LEAST, Math.min(fitting, slots * GROWTH, 2 ** 30));
  }
}
