/** Random numbers of a search. Each is a function of the search's seed and of the number of earlier draws. */
import { type Draw, threefry } from '../../engine/reference/threefry.js';

/** The stream of a search's draws, the second word of Threefry's key: "SEAR" in ASCII. It is none of the world's streams. */
const STREAM = 0x53454152;
/** One call of Threefry gives two words, and so four numbers of 16 bits. */
const NUMBERS_PER_CALL = 4;
/** Numbers are below this. */
const RANGE = 2 ** 16;
/** How many numbers are computed at once. Chosen by hand; it changes no number. */
const CHUNK = 256;

/** Returns chunk k of the numbers: u16 [256]. */
type Chunks = (k: number) => Uint16Array;

/**
 * Returns a function that creates `SearchDraws` with this seed, u32. All of them draw the same numbers, each of which is
 * computed once.
 */
export function sharedDraws(seed: number): () => SearchDraws {
  const chunks: Uint16Array[] = [];
  const chunkAt = (k: number): Uint16Array => {
    chunks[k] ??= computeChunk(seed, k);
    return chunks[k];
  };
  return () => new SearchDraws(seed, chunkAt);
}

function computeChunk(seed: number, k: number): Uint16Array {
  const numbers = new Uint16Array(CHUNK);
  const block: Draw = { x0: 0, x1: 0 };
  for (let at = 0; at < CHUNK; at += NUMBERS_PER_CALL) {
    const index = (k * CHUNK + at) / NUMBERS_PER_CALL;
    threefry(seed, STREAM, index % 2 ** 32, Math.floor(index / 2 ** 32), block);
    // The array keeps the lower 16 bits of a word.
    numbers[at] = block.x0 >>> 16;
    numbers[at + 1] = block.x0;
    numbers[at + 2] = block.x1 >>> 16;
    numbers[at + 3] = block.x1;
  }
  return numbers;
}

/** Draws the numbers of a seed one after the other. */
export class SearchDraws {
  readonly #chunkAt: Chunks;
  #chunk: Uint16Array;
  #chunksBegun = 1;
  /** The index of the next number in the chunk. */
  #next = 0;

  /** @param seed u32. */
  constructor(seed: number, chunkAt: Chunks = (k) => computeChunk(seed, k)) {
    this.#chunkAt = chunkAt;
    this.#chunk = chunkAt(0);
  }

  /** Returns an integer in [0, n), n up to 2^16. */
  below(n: number): number {
    return (this.#draw() * n) >>> 16;
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.#draw() < probability * RANGE;
  }

  /** Returns an integer in [0, 2^16). */
  #draw(): number {
    if (this.#next === CHUNK) {
      this.#chunk = this.#chunkAt(this.#chunksBegun++);
      this.#next = 0;
    }
    return this.#chunk[this.#next++];
  }
}
