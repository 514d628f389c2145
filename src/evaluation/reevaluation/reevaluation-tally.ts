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
  readonly overHeuristic: PairedComparison;
  readonly overConstant: PairedComparison;
}

/** The sums of one row. */
export class ReevaluationTally {
  readonly #heuristicTally = new ScoreTally();
  readonly #constantTally = new ScoreTally();
  readonly #heuristicDifferences = new Moments();
  readonly #constantDifferences = new Moments();

  /** Adds episodes. @param baselines results on the same seeds, at least those of PAIRED_BASELINES. */
  add(graded: Graded, baselines: ReadonlyMap<string, Graded>): void {
    const heuristic = baselines.get(PAIRED_BASELINES.heuristic)!.finalScores;
    const constant = baselines.get(PAIRED_BASELINES.constant)!.finalScores;
    this.#heuristicTally.add(graded, heuristic);
    this.#constantTally.add(graded, constant);
    this.#heuristicDifferences.addAll(differences(graded.finalScores, heuristic));
    this.#constantDifferences.addAll(differences(graded.finalScores, constant));
  }

  summary(): RowSummary {
    const { wins, ...summary } = this.#heuristicTally.summary();
    return {
      ...summary,
      overHeuristic: { wins, difference: this.#heuristicDifferences.interval() },
      overConstant: {
        wins: this.#constantTally.summary().wins,
        difference: this.#constantDifferences.interval(),
      },
    };
  }
}

const differences = (a: Float32Array, b: Float32Array): Float64Array =>
  Float64Array.from(a, (value, i) => value - b[i]);
