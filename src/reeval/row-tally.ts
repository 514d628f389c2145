/** What is kept of a table's row while its episodes stream by. */
import { type Interval, Moments } from '../evaluate/statistics.js';
import { type Summary, Tally, type Wins } from '../evaluate/tally.js';
import { type Graded, RIVALS } from './baselines.js';

/** Paired with another's episodes of the same weeks. */
export interface Comparison {
  readonly wins: Wins;
  /** Mean of the paired differences of final scores, with its 95 % interval. */
  readonly difference: Interval;
}

export interface RowSummary extends Omit<Summary, 'wins'> {
  readonly earlyMean: number;
  readonly lateMean: number;
  readonly overHeuristic: Comparison;
  readonly overConstant: Comparison;
}

export class RowTally {
  readonly #overHeuristic = new Tally();
  readonly #overConstant = new Tally();
  readonly #aboveHeuristic = new Moments();
  readonly #aboveConstant = new Moments();

  /** @param rivals what the baselines earned in the same weeks. */
  add(graded: Graded, rivals: ReadonlyMap<string, Graded>): void {
    const heuristic = rivals.get(RIVALS.heuristic)!.finalScores;
    const constant = rivals.get(RIVALS.constant)!.finalScores;
    this.#overHeuristic.add(graded, heuristic);
    this.#overConstant.add(graded, constant);
    this.#aboveHeuristic.addAll(differences(graded.finalScores, heuristic));
    this.#aboveConstant.addAll(differences(graded.finalScores, constant));
  }

  summary(): RowSummary {
    const { wins, earlyMean, lateMean, ...summary } = this.#overHeuristic.summary();
    return {
      ...summary,
      // What is replayed is known.
      ...{ earlyMean: earlyMean!, lateMean: lateMean! },
      overHeuristic: { wins, difference: this.#aboveHeuristic.interval() },
      overConstant: { wins: this.#overConstant.summary().wins, difference: this.#aboveConstant.interval() },
    };
  }
}

const differences = (a: Float32Array, b: Float32Array): Float64Array =>
  Float64Array.from(a, (value, i) => value - b[i]);
