/** Random numbers of an inference: a function of its seed, the purpose, and the number of earlier draws for that purpose. */
import { type Draw, threefry, unit } from '../../engine/reference/threefry.js';

/** The second word of Threefry's key: "INFR" in ASCII. No stream of the published world has this number. */
const STREAM = 0x494e4652;

/** Draws numbers, for one purpose at a time. */
export class InferenceDraws {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #purpose = 0;
  #count = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Restarts the draws for a purpose.
   * @param purpose the step, or a number above the last step for draws that belong to no step. @returns this object.
   */
  begin(purpose: number): this {
    this.#purpose = purpose;
    this.#count = 0;
    return this;
  }

  /** Returns a number in [0, 1), a multiple of 2^-24. */
  next(): number {
    // A block of Threefry gives two numbers.
    const odd = this.#count & 1;
    if (odd === 0) threefry(this.#seed, STREAM, this.#purpose, this.#count >>> 1, this.#block);
    this.#count++;
    return unit(odd === 0 ? this.#block.x0 : this.#block.x1);
  }

  /** Returns an integer in [0, n), n far below 2^24. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
}
