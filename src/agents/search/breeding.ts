/**
 * Random numbers of a search, and action sequences that are drawn, or bred by mutation and crossover. A row is 28 action codes;
 * rows are contiguous.
 */
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';

/** The stream of a search's draws, the second word of Threefry's key: "SEAR" in ASCII. It is none of the world's streams. */
const STREAM = 0x53454152;
/** One call of Threefry gives two words, and so four numbers of 16 bits. */
const NUMBERS_PER_CALL = 4;
/** Numbers are below this. */
const RANGE = 2 ** 16;
/** How many numbers are computed at once. Chosen by hand; it changes no number. */
const BLOCK = 256;

/** Returns block k of the numbers: u16 [256]. */
type Blocks = (k: number) => Uint16Array;

/**
 * Returns a function that creates `SearchDraws` with this seed, u32. All of them draw the same numbers, each of which is
 * computed once.
 */
export function sharedDraws(seed: number): () => SearchDraws {
  const blocks: Uint16Array[] = [];
  const blockAt = (k: number): Uint16Array => {
    blocks[k] ??= computeBlock(seed, k);
    return blocks[k];
  };
  return () => new SearchDraws(seed, blockAt);
}

function computeBlock(seed: number, k: number): Uint16Array {
  const numbers = new Uint16Array(BLOCK);
  const draw: Draw = { x0: 0, x1: 0 };
  for (let at = 0; at < BLOCK; at += NUMBERS_PER_CALL) {
    const index = (k * BLOCK + at) / NUMBERS_PER_CALL;
    threefry(seed, STREAM, index % 2 ** 32, Math.floor(index / 2 ** 32), draw);
    // The array keeps the lower 16 bits of a word.
    numbers[at] = draw.x0 >>> 16;
    numbers[at + 1] = draw.x0;
    numbers[at + 2] = draw.x1 >>> 16;
    numbers[at + 3] = draw.x1;
  }
  return numbers;
}

/** Draws the numbers of a seed one after the other: each is a function of the seed and of the number of earlier draws. */
export class SearchDraws {
  readonly #blockAt: Blocks;
  #block: Uint16Array;
  #blocksBegun = 1;
  /** The index of the next number in the block. */
  #next = 0;

  /** @param seed u32. */
  constructor(seed: number, blockAt: Blocks = (k) => computeBlock(seed, k)) {
    this.#blockAt = blockAt;
    this.#block = blockAt(0);
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
    if (this.#next === BLOCK) {
      this.#block = this.#blockAt(this.#blocksBegun++);
      this.#next = 0;
    }
    return this.#block[this.#next++];
  }
}

// The four probabilities are chosen by hand. They balance large changes, which find new sequences, and small ones, which
// improve known sequences.
/** The probability that a child copies a stretch (consecutive actions) of a second parent. */
const CROSSOVER = 0.35;
/** The probability that a child of two parents also mutates. Other children always mutate. */
const MUTATION = 0.7;
/** The probability that a mutation draws one new action instead of swapping two. */
const NEW_ACTION = 0.7;
/** The probability that another mutation follows. */
const NEXT_MUTATION = 0.4;

/** Writes a row of uniformly drawn actions at index `at`. */
export function drawSequence(draws: SearchDraws, rows: Uint8Array, at: number): void {
  for (let t = 0; t < NUM_STEPS; t++) rows[at + t] = draws.below(NUM_ACTIONS);
}

/**
 * Writes a child of the row at index `parent` to index `at`. With probability `CROSSOVER`, the child also copies a stretch of
 * the row at `secondParent`, and then mutates with probability `MUTATION`; else it always mutates.
 * @param begin the first step at which a child may differ from its parents. All rows have the same actions before this step.
 */
export function breedSequence(
  draws: SearchDraws,
  rows: Uint8Array,
  parent: number,
  secondParent: number,
  at: number,
  begin = 0,
): void {
  // The method `copyWithin` would take longer for so few numbers.
  for (let t = 0; t < NUM_STEPS; t++) rows[at + t] = rows[parent + t];
  const crossed = draws.chance(CROSSOVER);
  if (crossed) copyStretch(draws, rows, secondParent, at, begin);
  if (!crossed || draws.chance(MUTATION)) mutateSequence(draws, rows, at, begin);
}

const drawStep = (draws: SearchDraws, begin: number): number => begin + draws.below(NUM_STEPS - begin);

function copyStretch(draws: SearchDraws, rows: Uint8Array, from: number, to: number, begin: number): void {
  const one = drawStep(draws, begin);
  const other = drawStep(draws, begin);
  const first = Math.min(one, other);
  rows.copyWithin(to + first, from + first, from + Math.max(one, other) + 1);
}

/** Draws one new action or swaps two actions; repeats with probability `NEXT_MUTATION`. */
function mutateSequence(draws: SearchDraws, rows: Uint8Array, at: number, begin: number): void {
  do {
    const step = at + drawStep(draws, begin);
    if (draws.chance(NEW_ACTION)) {
      rows[step] = draws.below(NUM_ACTIONS);
    } else {
      const other = at + drawStep(draws, begin);
      const action = rows[step];
      rows[step] = rows[other];
      rows[other] = action;
    }
  } while (draws.chance(NEXT_MUTATION));
}

/** Returns a 32-bit hash of a row (FNV-1a). */
export function fingerprint(rows: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let t = at; t < at + NUM_STEPS; t++) hash = Math.imul(hash ^ rows[t], 0x01000193);
  return hash;
}
