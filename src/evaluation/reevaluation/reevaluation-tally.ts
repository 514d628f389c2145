/** Accumulates one row of a re-evaluation's table. */
import { type Interval, Moments } from '../../shared/statistics.js';
import { ScoreTally, type Summary, type Wins } from '../score-tally.js';
import { type Graded, PAIRED_BASELINES } from './baselines.js';

/** A comparison with another player's episodes on the same seeds. */
export interface PairedComparison {
  readonly wins: Wins;
  /** Mean of the paired differences of final scores, with its 95 % interval. */
  readonly difference: Interval;
}

/** Means over the episodes of a row, and its comparisons with the heuristic and the heuristic with constant belief. */
export interface RowSummary extends Omit<Summary, 'wins'> {
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  readonly overHeuristic: PairedComparison;
  readonly overConstant: PairedComparison;
}

export class ReevaluationTally {
  readonly #overHeuristic = new ScoreTally();
  readonly #overConstant = new ScoreTally();
  readonly #aboveHeuristic = new Moments();
  readonly #aboveConstant = new Moments();

  /** Adds episodes. @param baselines results of the baselines on the same seeds. */
  add(graded: Graded, baselines: ReadonlyMap<string, Graded>): void {
    const heuristic = baselines.get(PAIRED_BASELINES.heuristic)!.finalScores;
    const constant = baselines.get(PAIRED_BASELINES.constant)!.finalScores;
    this.#overHeuristic.add(graded, heuristic);
    this.#overConstant.add(graded, constant);
    this.#aboveHeuristic.addAll(differences(graded.finalScores, heuristic));
    this.#aboveConstant.addAll(differences(graded.finalScores, constant));
  }

  summary(): RowSummary {
    const { wins, firstHalfMean, secondHalfMean, ...summary } = this.#overHeuristic.summary();
    return {
      ...summary,
      // Means of replayed episodes are always known.
      ...{ firstHalfMean: firstHalfMean!, secondHalfMean: secondHalfMean! },
      overHeuristic: { wins, difference: this.#aboveHeuristic.interval() },
      overConstant: { wins: this.#overConstant.summary().wins, difference: this.#aboveConstant.interval() },
    };
  }
}

const differences = (a: Float32Array, b: Float32Array): Float64Array =>
  Float64Array.from(a, (value, i) => value - b[i]);
