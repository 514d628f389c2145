/** The tapes that a search keeps for a problem, and the generations that come of them. */
import { NUM_STEPS } from '../world/fields.js';
import { breedTape, drawTape, fingerprint } from './breed.js';
import type { Draws } from './draws.js';
import { isBetter, type ScoredTape } from './objective.js';

/** How often a child is made anew at most, if there is one like it. */
const ATTEMPTS = 8;
/** What a shortfall costs may grow and fall by this factor each generation, within bounds. */
const PRICE_STEP = 1.03;
const MOST_PRICE = 2 ** 10;
/** The price rises while fewer of those kept fall not short, and falls while more do: the best lie at the bound. */
const FEW = 0.4;
const MANY = 0.6;

/** Of a given size at most, best first. Its `candidates` are scored by whoever plays them, and then selected from. */
export class Population {
  readonly #draws: Draws;
  readonly #size: number;
  readonly #begin: number;
  /** u8 [size + most candidates, 28]: those kept, and from row `size` on those who want to be. */
  #rows: Uint8Array;
  #spare: Uint8Array;
  /** By the same rows. */
  readonly #prints: Int32Array;
  readonly #scores: Float64Array;
  readonly #shortfalls: Float64Array;
  readonly #worth: Float64Array;
  readonly #seen = new Set<number>();
  #order: number[] = [];
  #kept = 0;
  #candidates = 0;
  #best: ScoredTape | null = null;
  /** What a shortfall of 1 takes from the score that tapes are ranked by. */
  price: number;

  /**
   * @param most how many candidates there may be at once. @param price to begin with.
   * @param begin the first step that children may differ in.
   */
  constructor(draws: Draws, size: number, most: number, price = 1, begin = 0) {
    this.#draws = draws;
    this.#size = size;
    this.#begin = begin;
    this.#rows = new Uint8Array((size + most) * NUM_STEPS);
    this.#spare = new Uint8Array(this.#rows.length);
    this.#prints = new Int32Array(size + most);
    this.#scores = new Float64Array(size + most);
    this.#shortfalls = new Float64Array(size + most);
    this.#worth = new Float64Array(size + most);
    this.price = price;
  }

  /** The best of all that were ever selected from. */
  get best(): ScoredTape {
    return this.#best!;
  }

  /** u8 [count, 28], copied: the best of those kept, over again if they are fewer. */
  first(count: number): Uint8Array {
    const rows = new Uint8Array(count * NUM_STEPS);
    for (let i = 0; i < count; i++) {
      const at = (i % this.#kept) * NUM_STEPS;
      rows.set(this.#rows.subarray(at, at + NUM_STEPS), i * NUM_STEPS);
    }
    return rows;
  }

  /** u8 [candidates, 28], a view that counts until the next selection. */
  get candidates(): Uint8Array {
    return this.#rows.subarray(this.#size * NUM_STEPS, (this.#size + this.#candidates) * NUM_STEPS);
  }

  /** Makes given tapes, u8 [n, 28] each, the candidates. */
  offer(tapes: readonly Uint8Array[]): void {
    let row = this.#size;
    for (const some of tapes) {
      this.#rows.set(some, row * NUM_STEPS);
      row += some.length / NUM_STEPS;
    }
    this.#candidates = row - this.#size;
    for (let i = this.#size; i < row; i++) this.#prints[i] = fingerprint(this.#rows, i * NUM_STEPS);
  }

  /** Makes `count` children the candidates: of those kept, or, if there are none, drawn uniformly. */
  breed(count: number): void {
    this.#candidates = count;
    this.#seen.clear();
    for (let i = 0; i < this.#kept; i++) this.#seen.add(this.#prints[i]);
    for (let i = this.#size; i < this.#size + count; i++) this.#prints[i] = this.#breedRow(i * NUM_STEPS);
  }

  /** @returns its fingerprint. */
  #breedRow(at: number): number {
    for (let attempt = 1; ; attempt++) {
      if (this.#kept === 0) drawTape(this.#draws, this.#rows, at);
      else this.#breedChild(at);
      const print = fingerprint(this.#rows, at);
      if (this.#seen.has(print) && attempt < ATTEMPTS) continue;
      this.#seen.add(print);
      return print;
    }
  }

  #breedChild(at: number): void {
    const draws = this.#draws;
    // The lesser rank of two: the better have more children.
    const mother = Math.min(draws.below(this.#kept), draws.below(this.#kept));
    const father = draws.below(this.#kept);
    breedTape(draws, this.#rows, mother * NUM_STEPS, father * NUM_STEPS, at, this.#begin);
  }

  /** Keeps the best of those kept and the candidates. @param scores f64 [candidates], as `shortfalls`. */
  select(scores: Float64Array, shortfalls: Float64Array): void {
    this.#scores.set(scores, this.#size);
    this.#shortfalls.set(shortfalls, this.#size);
    for (let i = this.#size; i < this.#size + this.#candidates; i++) this.#noteBest(i);
    this.#rank();
    this.#keep();
    this.#candidates = 0;
    this.#adaptPrice();
  }

  #noteBest(row: number): void {
    const outcome = { score: this.#scores[row], shortfall: this.#shortfalls[row] };
    if (this.#best !== null && !isBetter(outcome, this.#best)) return;
    this.#best = { ...outcome, tape: this.#rows.slice(row * NUM_STEPS, (row + 1) * NUM_STEPS) };
  }

  /** Orders all rows, best first; of equal ones the older. */
  #rank(): void {
    const worth = this.#worth;
    const order = this.#order;
    order.length = 0;
    for (let row = 0; row < this.#kept; row++) order.push(row);
    for (let row = this.#size; row < this.#size + this.#candidates; row++) order.push(row);
    for (const row of order) worth[row] = this.#scores[row] - this.price * this.#shortfalls[row];
    order.sort((a, b) => worth[b] - worth[a] || a - b);
  }

  /** Keeps the first rows of the order, each tape once. */
  #keep(): void {
    const kept = this.#spare;
    const seen = this.#seen;
    const rows: number[] = [];
    seen.clear();
    for (const row of this.#order) {
      if (seen.has(this.#prints[row])) continue;
      seen.add(this.#prints[row]);
      kept.set(this.#rows.subarray(row * NUM_STEPS, (row + 1) * NUM_STEPS), rows.length * NUM_STEPS);
      rows.push(row);
      if (rows.length === this.#size) break;
    }
    for (const column of [this.#prints, this.#scores, this.#shortfalls]) {
      column.set(rows.map((row) => column[row]));
    }
    this.#kept = rows.length;
    this.#spare = this.#rows;
    this.#rows = kept;
  }

  #adaptPrice(): void {
    let fine = 0;
    for (let i = 0; i < this.#kept; i++) if (this.#shortfalls[i] === 0) fine++;
    if (fine < FEW * this.#kept) this.price = Math.min(this.price * PRICE_STEP, MOST_PRICE);
    else if (fine > MANY * this.#kept) this.price = Math.max(this.price / PRICE_STEP, 1 / MOST_PRICE);
  }
}
