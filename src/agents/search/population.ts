/** The population of action sequences of a problem, and its generations. */
import { NUM_STEPS } from '../../world/fields.js';
import { breedSequence, drawSequence, fingerprint } from './crossover.js';
import { isBetter, type ScoredActionSequence } from './objective.js';
import type { Draws } from './search-draws.js';

/** The maximum number of attempts to make a child that differs from the others. */
const MAX_ATTEMPTS = 8;
/** The factor by which the penalty of a shortfall changes in each generation, within bounds. */
const PENALTY_STEP = 1.03;
const MAX_PENALTY = 2 ** 10;
/** The penalty rises while a smaller share of the kept sequences meets the bound. */
const MIN_FEASIBLE = 0.4;
/** The penalty falls while a larger share meets the bound. */
const MAX_FEASIBLE = 0.6;

/** The best sequences, in order. The caller scores `candidates` and passes the scores to `select`. */
export class Population {
  readonly #draws: Draws;
  readonly #size: number;
  readonly #begin: number;
  /** u8 [size + maxCandidates, 28]: the kept sequences, and from row `size` on the candidates. */
  #rows: Uint8Array;
  #spare: Uint8Array;
  /** The fingerprint of each row. */
  readonly #rowFingerprints: Int32Array;
  readonly #scores: Float64Array;
  readonly #shortfalls: Float64Array;
  readonly #values: Float64Array;
  readonly #knownFingerprints = new Set<number>();
  #order: number[] = [];
  #numKept = 0;
  #candidates = 0;
  #best: ScoredActionSequence | null = null;
  /** The number that a shortfall of 1 subtracts from the score in the ranking. */
  penalty: number;

  /**
   * @param maxCandidates the maximum number of candidates at once. @param penalty the initial penalty.
   * @param begin the first step in which children may differ.
   */
  constructor(draws: Draws, size: number, maxCandidates: number, penalty = 1, begin = 0) {
    this.#draws = draws;
    this.#size = size;
    this.#begin = begin;
    this.#rows = new Uint8Array((size + maxCandidates) * NUM_STEPS);
    this.#spare = new Uint8Array(this.#rows.length);
    this.#rowFingerprints = new Int32Array(size + maxCandidates);
    this.#scores = new Float64Array(size + maxCandidates);
    this.#shortfalls = new Float64Array(size + maxCandidates);
    this.#values = new Float64Array(size + maxCandidates);
    this.penalty = penalty;
  }

  /** The best sequence of all selections. */
  get best(): ScoredActionSequence {
    return this.#best!;
  }

  /** Returns a copy of the best kept sequences, u8 [count, 28], repeated if fewer are kept. */
  first(count: number): Uint8Array {
    const rows = new Uint8Array(count * NUM_STEPS);
    for (let i = 0; i < count; i++) {
      const at = (i % this.#numKept) * NUM_STEPS;
      rows.set(this.#rows.subarray(at, at + NUM_STEPS), i * NUM_STEPS);
    }
    return rows;
  }

  /** u8 [candidates, 28], a view that is valid until the next selection. */
  get candidates(): Uint8Array {
    return this.#rows.subarray(this.#size * NUM_STEPS, (this.#size + this.#candidates) * NUM_STEPS);
  }

  /** Sets the candidates, u8 [n, 28] each. */
  offer(sequences: readonly Uint8Array[]): void {
    let row = this.#size;
    for (const group of sequences) {
      this.#rows.set(group, row * NUM_STEPS);
      row += group.length / NUM_STEPS;
    }
    this.#candidates = row - this.#size;
    for (let i = this.#size; i < row; i++) this.#rowFingerprints[i] = fingerprint(this.#rows, i * NUM_STEPS);
  }

  /** Makes `count` candidates: children of the kept sequences, or uniform draws if none are kept. */
  breed(count: number): void {
    this.#candidates = count;
    this.#knownFingerprints.clear();
    for (let i = 0; i < this.#numKept; i++) this.#knownFingerprints.add(this.#rowFingerprints[i]);
    for (let i = this.#size; i < this.#size + count; i++)
      this.#rowFingerprints[i] = this.#breedRow(i * NUM_STEPS);
  }

  /** Writes a candidate at index `at`. Returns the fingerprint. */
  #breedRow(at: number): number {
    for (let attempt = 1; ; attempt++) {
      if (this.#numKept === 0) drawSequence(this.#draws, this.#rows, at);
      else this.#breedChild(at);
      const print = fingerprint(this.#rows, at);
      if (this.#knownFingerprints.has(print) && attempt < MAX_ATTEMPTS) continue;
      this.#knownFingerprints.add(print);
      return print;
    }
  }

  #breedChild(at: number): void {
    const draws = this.#draws;
    // The lower rank of two draws: better sequences have more children.
    const parent = Math.min(draws.below(this.#numKept), draws.below(this.#numKept));
    const secondParent = draws.below(this.#numKept);
    breedSequence(draws, this.#rows, parent * NUM_STEPS, secondParent * NUM_STEPS, at, this.#begin);
  }

  /** Keeps the best of the kept sequences and the candidates. @param scores f64 [candidates], like `shortfalls`. */
  select(scores: Float64Array, shortfalls: Float64Array): void {
    this.#scores.set(scores, this.#size);
    this.#shortfalls.set(shortfalls, this.#size);
    for (let i = this.#size; i < this.#size + this.#candidates; i++) this.#updateBest(i);
    this.#rank();
    this.#keep();
    this.#candidates = 0;
    this.#adaptPenalty();
  }

  #updateBest(row: number): void {
    const outcome = { score: this.#scores[row], shortfall: this.#shortfalls[row] };
    if (this.#best !== null && !isBetter(outcome, this.#best)) return;
    this.#best = { ...outcome, actions: this.#rows.slice(row * NUM_STEPS, (row + 1) * NUM_STEPS) };
  }

  /** Sorts all rows, the best first. Of equal rows, the older is first. */
  #rank(): void {
    const values = this.#values;
    const order = this.#order;
    order.length = 0;
    for (let row = 0; row < this.#numKept; row++) order.push(row);
    for (let row = this.#size; row < this.#size + this.#candidates; row++) order.push(row);
    for (const row of order) values[row] = this.#scores[row] - this.penalty * this.#shortfalls[row];
    order.sort((a, b) => values[b] - values[a] || a - b);
  }

  /** Keeps the first rows in order, without duplicates. */
  #keep(): void {
    const kept = this.#spare;
    const known = this.#knownFingerprints;
    const rows: number[] = [];
    known.clear();
    for (const row of this.#order) {
      if (known.has(this.#rowFingerprints[row])) continue;
      known.add(this.#rowFingerprints[row]);
      kept.set(this.#rows.subarray(row * NUM_STEPS, (row + 1) * NUM_STEPS), rows.length * NUM_STEPS);
      rows.push(row);
      if (rows.length === this.#size) break;
    }
    for (const column of [this.#rowFingerprints, this.#scores, this.#shortfalls]) {
      column.set(rows.map((row) => column[row]));
    }
    this.#numKept = rows.length;
    this.#spare = this.#rows;
    this.#rows = kept;
  }

  #adaptPenalty(): void {
    let feasible = 0;
    for (let i = 0; i < this.#numKept; i++) if (this.#shortfalls[i] === 0) feasible++;
    if (feasible < MIN_FEASIBLE * this.#numKept)
      this.penalty = Math.min(this.penalty * PENALTY_STEP, MAX_PENALTY);
    else if (feasible > MAX_FEASIBLE * this.#numKept)
      this.penalty = Math.max(this.penalty / PENALTY_STEP, 1 / MAX_PENALTY);
  }
}
