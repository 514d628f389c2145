/** Draws samples with replacement. A draw depends only on the seed and the number of earlier draws. */
import { type Draw, threefry } from '../../engine/reference/threefry.js';

/** The second word of Threefry's key, "BOOT" in ASCII; the first is a seed. The world's streams have other numbers. */
const STREAM = 0x424f4f54;
/** The number of u32 values. */
const RANGE = 2 ** 32;

/** Draws the resamples of a bootstrap, one after the other. */
export class Resampler {
  readonly #seed: number;
  readonly #block: Draw = { x0: 0, x1: 0 };
  #count = 0;

  /** @param seed u32. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Fills each `samples[s]` with numbers drawn from `strata[s]` with replacement. */
  resample(strata: readonly Float64Array[], samples: readonly Float64Array[]): void {
    for (const [s, stratum] of strata.entries()) {
      const sample = samples[s];
      for (let i = 0; i < sample.length; i++) {
        sample[i] = stratum[Math.floor((this.#next() / RANGE) * stratum.length)];
      }
    }
  }

  /** Returns the next random u32. A block of Threefry gives two numbers. */
  #next(): number {
    const count = this.#count++;
    if (count % 2 === 1) return this.#block.x1;
    const block = count / 2;
    return threefry(this.#seed, STREAM, block % RANGE, Math.floor(block / RANGE), this.#block).x0;
  }
}
