/** Random numbers of an inference: a function of its seed, a step, and the number of earlier draws for that step. */
import { type Draw, threefry, unit } from '../../engine/reference/threefry.js';

/** The second word of Threefry's key: "INFR" in ASCII. No stream of the published world has this number. */
const STREAM = 0x494e4652;

/** Draws numbers, for one step at a time. */
export class InferenceDraws {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #step = 0;
  #count = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Restarts the draws for a step.
   * @param step the step, or a number above the last step for draws that belong to no step. @returns this object.
   */
  begin(step: number): this {
    this.#step = step;
    this.#count = 0;
    return this;
  }

  /** Returns a number in [0, 1), a multiple of 2^-24. */
  next(): number {
    // A block of Threefry gives two numbers.
    const odd = this.#count & 1;
    if (odd === 0) threefry(this.#seed, STREAM, this.#step, this.#count >>> 1, this.#block);
    this.#count++;
    return unit(odd === 0 ? this.#block.x0 : this.#block.x1);
  }

  /** Returns an integer in [0, n), n far below 2^24. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
}
