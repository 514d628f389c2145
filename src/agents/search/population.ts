/** Keeps the best action sequences of a search, and breeds candidates from them. */

import { NUM_STEPS } from '../../world/fields.js';
import { breedSequence, drawSequence, fingerprint, type SearchDraws } from './breeding.js';

/** The outcome of an action sequence, over all episodes that it plays. */
export interface Outcome {
  /** Mean final score. */
  readonly score: number;
  /**
   * How far the mean of the episodes' first-half means lies below the option `minFirstHalfMean`; 0 if it does not, or without
   * the option.
   */
  readonly shortfall: number;
}

/** An action sequence and its outcome. */
export interface ScoredActionSequence extends Outcome {
  /** u8 [28], codes. */
  readonly actions: Uint8Array;
}

/** Returns whether `a` is better: a smaller shortfall first, then a higher score. */
export function isBetter(a: Outcome, b: Outcome): boolean {
  return a.shortfall === b.shortfall ? a.score > b.score : a.shortfall < b.shortfall;
}

/**
 * The maximum number of attempts to make a candidate that differs from all others. Chosen by hand: more attempts leave fewer
 * duplicates and take longer.
 */
const MAX_ATTEMPTS = 8;

// The numbers of the penalty are chosen by hand. If the best sequences have first-half means near `minFirstHalfMean`, below
// which a shortfall begins (see `Outcome`), about half of the kept sequences have no shortfall.

/** The penalty of a shortfall rises or falls by this factor. */
const PENALTY_STEP = 1.03;
/** The penalty stays between 1 / MAX_PENALTY and MAX_PENALTY. */
const MAX_PENALTY = 2 ** 10;
/** The penalty rises while the share of kept sequences without a shortfall is below this number. */
const MIN_FEASIBLE = 0.4;
/** The penalty falls while the share of kept sequences without a shortfall is above this number. */
const MAX_FEASIBLE = 0.6;

/** Action sequences with their fingerprints and outcomes. */
class Rows {
  /** u8 [count, 28]. */
  readonly actions: Uint8Array;
  readonly fingerprints: Int32Array;
  readonly scores: Float64Array;
  readonly shortfalls: Float64Array;

  constructor(count: number) {
    this.actions = new Uint8Array(count * NUM_STEPS);
    this.fingerprints = new Int32Array(count);
    this.scores = new Float64Array(count);
    this.shortfalls = new Float64Array(count);
  }

  /** Copies row `row` of `from` to row `at`. */
  copy(at: number, from: Rows, row: number): void {
    const to = at * NUM_STEPS;
    const first = row * NUM_STEPS;
    for (let t = 0; t < NUM_STEPS; t++) this.actions[to + t] = from.actions[first + t];
    this.fingerprints[at] = from.fingerprints[row];
    this.scores[at] = from.scores[row];
    this.shortfalls[at] = from.shortfalls[row];
  }

  /** Returns whether a row in [first, end) has this fingerprint. */
  has(print: number, first: number, end: number): boolean {
    for (let row = first; row < end; row++) if (this.fingerprints[row] === print) return true;
    return false;
  }
}

/** Keeps the best sequences, the best first. The caller scores `candidates` and passes the scores to `select`. */
export class Population {
  readonly #draws: SearchDraws;
  readonly #size: number;
  readonly #begin: number;
  /** The kept sequences, followed by the candidates from row `size` on. */
  #rows: Rows;
  /** Memory for the rows that the next selection keeps. */
  #spare: Rows;
  /** The value of each row in the ranking, and the indices of the rows in order, the best first. */
  readonly #values: Float64Array;
  readonly #order: Int32Array;
  /** The numbers of kept sequences and of candidates. */
  #numKept = 0;
  #numCandidates = 0;
  #best: ScoredActionSequence | null = null;
  /** The number that a shortfall of 1 subtracts from the score in the ranking. */
  penalty: number;

  /**
   * @param size the maximum number of kept sequences. @param maxCandidates the maximum number of candidates at once.
   * @param penalty the initial penalty.
   * @param begin the first step in which a child may differ from its parents.
   */
  constructor(draws: SearchDraws, size: number, maxCandidates: number, penalty = 1, begin = 0) {
    this.#draws = draws;
    this.#size = size;
    this.#begin = begin;
    this.#rows = new Rows(size + maxCandidates);
    this.#spare = new Rows(size + maxCandidates);
    this.#values = new Float64Array(size + maxCandidates);
    this.#order = new Int32Array(size + maxCandidates);
    this.penalty = penalty;
  }

  /** The best sequence of all selections. */
  get best(): ScoredActionSequence {
    return this.#best!;
  }

  /** Returns a copy of the best kept sequences, u8 [count, 28], repeated if fewer are kept. */
  bestKept(count: number): Uint8Array {
    const rows = new Uint8Array(count * NUM_STEPS);
    for (let i = 0; i < count; i++) {
      const at = (i % this.#numKept) * NUM_STEPS;
      rows.set(this.#rows.actions.subarray(at, at + NUM_STEPS), i * NUM_STEPS);
    }
    return rows;
  }

  /** The row after the last candidate. */
  get #end(): number {
    return this.#size + this.#numCandidates;
  }

  /** u8 [candidates, 28], a view that is valid until the candidates change. */
  get candidates(): Uint8Array {
    return this.#rows.actions.subarray(this.#size * NUM_STEPS, this.#end * NUM_STEPS);
  }

  /** Sets the candidates: all rows of these arrays, u8 [n, 28] each. */
  setCandidates(sequences: readonly Uint8Array[]): void {
    const { actions, fingerprints } = this.#rows;
    let row = this.#size;
    for (const group of sequences) {
      actions.set(group, row * NUM_STEPS);
      row += group.length / NUM_STEPS;
    }
    this.#numCandidates = row - this.#size;
    for (let i = this.#size; i < row; i++) fingerprints[i] = fingerprint(actions, i * NUM_STEPS);
  }

  /** Makes `count` candidates: children of the kept sequences, or uniform draws if none are kept. */
  breed(count: number): void {
    for (this.#numCandidates = 0; this.#numCandidates < count; this.#numCandidates++) {
      this.#rows.fingerprints[this.#end] = this.#breedRow(this.#end * NUM_STEPS);
    }
  }

  /** Writes a new candidate at index `at`. @returns its fingerprint. */
  #breedRow(at: number): number {
    const rows = this.#rows;
    for (let attempt = 1; ; attempt++) {
      if (this.#numKept === 0) drawSequence(this.#draws, rows.actions, at);
      else this.#breedChild(at);
      const print = fingerprint(rows.actions, at);
      const isKnown = rows.has(print, 0, this.#numKept) || rows.has(print, this.#size, this.#end);
      if (!isKnown || attempt === MAX_ATTEMPTS) return print;
    }
  }

  /**
   * Drops all candidates but the `count` with the highest scores. The remaining candidates keep their order.
   * @param scores f64 [candidates]. @returns the earlier indices of the remaining candidates.
   */
  narrow(scores: Float64Array, count: number): Int32Array {
    for (let k = 0; k < scores.length; k++) {
      this.#values[k] = scores[k];
      this.#insert(k, k);
    }
    // Ascending, so that no copy overwrites a row that is still to be copied.
    const best = this.#order.subarray(0, Math.min(count, scores.length)).sort();
    best.forEach((from, k) => {
      this.#rows.copy(this.#size + k, this.#rows, this.#size + from);
    });
    this.#numCandidates = best.length;
    return best.slice();
  }

  #breedChild(at: number): void {
    const draws = this.#draws;
    // The lower rank of two draws: better sequences have more children.
    const parent = Math.min(draws.below(this.#numKept), draws.below(this.#numKept));
    const secondParent = draws.below(this.#numKept);
    breedSequence(draws, this.#rows.actions, parent * NUM_STEPS, secondParent * NUM_STEPS, at, this.#begin);
  }

  /** Keeps the best of the kept sequences and the candidates. @param scores f64 [candidates], like `shortfalls`. */
  select(scores: Float64Array, shortfalls: Float64Array): void {
    const rows = this.#rows;
    rows.scores.set(scores, this.#size);
    rows.shortfalls.set(shortfalls, this.#size);
    for (let row = this.#size; row < this.#end; row++) {
      if (this.#best === null || isBetterRow(rows, row, this.#best)) this.#best = scoredRow(rows, row);
    }
    for (let row = 0; row < this.#end; row++) {
      this.#values[row] = rows.scores[row] - this.penalty * rows.shortfalls[row];
    }
    this.#keep(this.#rank());
    this.#numCandidates = 0;
    this.#adaptPenalty();
  }

  /**
   * Writes the indices of all rows to `order`, the best first. Of equal rows, the older is first. @returns the number of rows.
   */
  #rank(): number {
    let count = 0;
    for (let row = 0; row < this.#numKept; row++) this.#insert(row, count++);
    for (let row = this.#size; row < this.#end; row++) this.#insert(row, count++);
    return count;
  }

  /** Inserts a row into the first `count` entries of `order`, which are sorted by value, the highest first. */
  #insert(row: number, count: number): void {
    const values = this.#values;
    const order = this.#order;
    let at = count;
    for (; at > 0 && values[order[at - 1]] < values[row]; at--) order[at] = order[at - 1];
    order[at] = row;
  }

  /** Keeps the first `size` of the `count` ranked rows, without duplicates. */
  #keep(count: number): void {
    const kept = this.#spare;
    let numKept = 0;
    for (let k = 0; k < count && numKept < this.#size; k++) {
      const row = this.#order[k];
      if (!kept.has(this.#rows.fingerprints[row], 0, numKept)) kept.copy(numKept++, this.#rows, row);
    }
    this.#numKept = numKept;
    this.#spare = this.#rows;
    this.#rows = kept;
  }

  #adaptPenalty(): void {
    let feasible = 0;
    for (let i = 0; i < this.#numKept; i++) if (this.#rows.shortfalls[i] === 0) feasible++;
    if (feasible < MIN_FEASIBLE * this.#numKept)
      this.penalty = Math.min(this.penalty * PENALTY_STEP, MAX_PENALTY);
    else if (feasible > MAX_FEASIBLE * this.#numKept)
      this.penalty = Math.max(this.penalty / PENALTY_STEP, 1 / MAX_PENALTY);
  }
}

const isBetterRow = ({ scores, shortfalls }: Rows, row: number, best: ScoredActionSequence): boolean =>
  isBetter({ score: scores[row], shortfall: shortfalls[row] }, best);

const scoredRow = ({ actions, scores, shortfalls }: Rows, row: number): ScoredActionSequence => ({
  score: scores[row],
  shortfall: shortfalls[row],
  actions: actions.slice(row * NUM_STEPS, (row + 1) * NUM_STEPS),
});
