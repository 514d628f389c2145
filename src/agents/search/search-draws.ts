/** Random numbers of a search, a function of its seed and of the number of earlier draws. */
import { type Draw, threefry } from '../../engine/reference/threefry.js';

/** The second word of the generator's key. It differs from all streams of the world. */
const STREAM = 0x53454152;
/** A block of two words gives four numbers of 16 bits. */
const PIECES = 4;
const RANGE = 2 ** 16;

export class Draws {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #count = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns an integer in [0, n), n up to 2^16. */
  below(n: number): number {
    return (this.#next() * n) >>> 16;
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.#next() < probability * RANGE;
  }

  /** Returns an integer in [0, 2^16). */
  #next(): number {
    const piece = this.#count % PIECES;
    if (piece === 0) this.#drawBlock(this.#count / PIECES);
    this.#count++;
    const word = piece < PIECES / 2 ? this.#block.x0 : this.#block.x1;
    return piece % 2 === 0 ? word >>> 16 : word & (RANGE - 1);
  }

  #drawBlock(index: number): void {
    threefry(this.#seed, STREAM, index % 2 ** 32, Math.floor(index / 2 ** 32), this.#block);
  }
}
