/** The random numbers of an inference: a function of its seed, of what they are for, and of how many were drawn. */
import { type Draw, threefry, unit } from '../../reference/threefry.js';

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x494e4652;

export class Draws {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #purpose = 0;
  #drawn = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Begins anew for a purpose: a step, or a code behind the last step. @returns itself. */
  begin(purpose: number): this {
    this.#purpose = purpose;
    this.#drawn = 0;
    return this;
  }

  /** In [0, 1), a multiple of 2^-24. */
  next(): number {
    const odd = this.#drawn & 1;
    if (odd === 0) threefry(this.#seed, STREAM, this.#purpose, this.#drawn >>> 1, this.#block);
    this.#drawn++;
    return unit(odd === 0 ? this.#block.x0 : this.#block.x1);
  }

  /** An integer in [0, n), n far below 2^24. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
}
